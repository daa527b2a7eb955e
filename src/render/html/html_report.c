// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the page of a recording, with its sections in order. */
#include <stdlib.h>

#include "base/units.h"
#include "render/html/html.h"
#include "render/utc.h"

static const struct {
	const char *id, *title;
} parts[] = {
	{"verdict", "Verdict"},
	{"facts", "The run"},
	{"timeline", "Timeline"},
	{"events", "What happened"},
	{"flame", "Flame graph"},
	{"memory", "Resident memory"},
	{"oom", "OOM kills"},
	{"heat", "Faults by process"},
	{"addresses", "Faults by address"},
	{"latency", "Latency"},
	{"gauges", "Limits"},
	{"processes", "Processes"},
	{"mappings", "Mappings"},
	{"descriptors", "File descriptors"},
	{"data", "Data"},
};

static void put_contents(struct buf *b)
{
	buf_puts(b, "<nav aria-label=\"Sections\"><ul>");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		buf_printf(b, "<li><a href=\"#%s\">%s</a></li>", parts[i].id, parts[i].title);
	buf_puts(b, "</ul></nav>\n");
}

static void put_subtitle(struct buf *b, const struct story_view *s)
{
	const struct host_record *h = &s->v->m->host;

	char zone[32];

	html_zone_name(s, zone, sizeof(zone));
	buf_printf(b, "%s, Linux %s, %s, %s, times in %s", h->host, h->kernel, as_utc(h->wall_ns).s,
		   as_span(story_seconds(s)).s, h->zone_known ? zone : "UTC");
	if (h->target[0])
		buf_printf(b, ", %s", h->target);
}

void html_report(struct buf *b, const struct story_view *s)
{
	struct buf subtitle = {};
	struct address_map m;
	struct gauge_list gauges;
	struct profile p;

	if (profile_make(&p, s)) {
		b->failed = true;
		return;
	}
	b->failed |= addresses_make(&m, s) != 0;
	html_find_gauges(b, s, &gauges);
	put_subtitle(&subtitle, s);
	html_begin(b, s->file.name, subtitle.s ? subtitle.s : "", true);
	buf_puts(b, "<div class=\"page\">\n");
	put_contents(b);
	buf_puts(b, "<main id=\"main\" tabindex=\"-1\">\n");
	html_verdict(b, s, &gauges);
	html_facts(b, s);
	html_timeline(b, s);
	html_events(b, s);
	html_flame(b, s, &p);
	html_memory(b, s);
	html_oom(b, s);
	html_heat(b, s);
	html_addresses(b, s, &m);
	html_latency(b, s);
	html_gauges(b, s, &gauges);
	html_processes(b, s);
	html_held(b, s, WHAT_MAPS);
	html_held(b, s, WHAT_FDS);
	html_story_data(b, s, &p, &m);
	buf_puts(b, "</main>\n</div>\n");
	html_end(b);
	buf_end_part(b, &subtitle);
	free(gauges.of);
	addresses_free(&m);
	profile_free(&p);
}
