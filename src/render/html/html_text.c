// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the facts of a recording, its processes, and what they held. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/overhead.h"
#include "base/units.h"
#include "model/fields.h"
#include "model/growers.h"
#include "model/holdings.h"
#include "render/html/html.h"
#include "render/losses.h"
#include "render/text/text.h"
#include "render/utc.h"

#define PROCESSES_SHOWN 60
#define SORTS_SHOWN	12
#define HOLDERS_SHOWN	6
#define GROWTH_SHOWN	12
#define GROWTH_LEAST	8 /* smaller growth of mappings or fds is not listed */
#define FRAMES_SHOWN	8
#define TILE_CHARS	9 /* a longer number has a smaller font */

static void put_tile(struct buf *b, const char *title, const char *is, uint64_t n,
		     struct number_text value)
{
	html_printf(b,
		    "<div class=\"tile\"><dt>%s</dt><dd class=\"%s\" data-is=\"%s\" "
		    "data-v=\"%.17g\">%s</dd>",
		    title, strlen(value.s) > TILE_CHARS ? "long" : "short", is, (double)n, value.s);
}

static void put_total(struct buf *b, const struct story_view *s, const char *title, const char *is,
		      const struct field *f)
{
	uint64_t n = history_total(s->h, f);

	put_tile(b, title, is, n, as_field_total(f, n));
	buf_puts(b, "</div>");
}

static void put_peak(struct buf *b, const char *title, const char *is, const struct peak *p)
{
	put_tile(b, title, is, p->value, as_count(p->value));
	html_printf(b, "<dd class=\"more\" data-is=\"%s\" data-v=\"%.17g\" data-pid=\"%u\">of %s",
		    is, (double)p->value, p->pid, as_limit(p->limit).s);
	if (p->limit && p->limit != UINT64_MAX)
		buf_printf(b, " (%.1f%%)", 100.0 * p->value / p->limit);
	html_printf(b, ", %s[%u]</dd></div>", p->comm, p->pid);
}

static void put_tiles(struct buf *b, const struct story_view *s)
{
	uint64_t processes = history_processes(s->h), ended = history_ended(s->h);
	struct totals t;

	model_totals(s->v->m, &t);
	buf_puts(b, "<dl class=\"tiles\" id=\"tiles\">");
	put_total(b, s, "minor faults", "total:faults.minor", FIELD(min_flt));
	put_total(b, s, "major faults", "total:faults.major", FIELD(maj_flt));
	if (is_available(s->v->m, "fault_end", 0))
		put_total(b, s, "stalled in faults of all threads", "total:faults.stall_ns",
			  FIELD(stall));
	else
		buf_puts(b,
			 "<div class=\"tile\"><dt>stalled in faults</dt><dd>?</dd><dd "
			 "class=\"more\">not measured: overhead level latency was off</dd></div>");
	put_peak(b, "peak of mappings", "peak-of:maps", &t.maps);
	put_peak(b, "peak of open fds", "peak-of:fds", &t.fds);
	put_tile(b, "processes", "processes", processes, as_count(processes));
	html_printf(b,
		    "<dd class=\"more\" data-is=\"processes:ended\" data-v=\"%.17g\">%s "
		    "ended</dd></div>",
		    (double)ended, as_count(ended).s);
	buf_puts(b, "</dl>\n");
}

#define FACT(key, value)                                                                           \
	"<tr><th scope=\"row\">" key "</th><td data-is=\"fact:" key "\">" value "</td></tr>\n"

/*
 * Appends the losses above 0 to a list. `any` is true if the list has entries already. Returns
 * whether the list has entries now.
 */
static bool put_lost(struct buf *b, const struct loss *lost, size_t n, bool any)
{
	for (size_t i = 0; i < n; i++)
		if (lost[i].n) {
			buf_printf(b, "%s%s %s", any ? "; " : "", as_count(lost[i].n).s,
				   as_words(lost[i].n, lost[i].about).s);
			any = true;
		}
	return any;
}

static void put_losses(struct buf *b, const struct story_view *s)
{
	const struct loss own[] = {
		{.about = "event{|s} left out of this report", .n = s->h->events_lost},
		{.about = "process{ that ended and has no row of its own: its|es that ended and "
			  "have no row of their own: their} counters are added up in the "
			  "row " HISTORY_OTHERS,
		 .n = s->h->rows_lost - s->h->beyond},
		{.about = "process{|es} left out of this report", .n = s->h->beyond},
		{.about = "byte{|s} of the file that cannot be read", .n = s->file.lost_bytes},
	};
	struct loss all[LOSSES_MAX];
	bool any = false;

	buf_puts(b, "<tr><th scope=\"row\">lost</th><td data-is=\"fact:lost\">");
	any |= put_lost(b, all, losses_of(s->v, all), any);
	any |= put_lost(b, own, sizeof(own) / sizeof(own[0]), any);
	buf_puts(b, any ? "</td></tr>\n" : "nothing</td></tr>\n");
}

static void put_hooks(struct buf *b, const struct model *m)
{
	buf_puts(b, "<tr><th scope=\"row\">probes</th><td data-is=\"fact:probes\"><ul "
		    "class=\"hooks\">");
	for (size_t i = 0; i < m->hooks; i++) {
		const struct hook_view *h = &m->hook[i];

		html_printf(b, "<li class=\"%s\">%s <span class=\"dim\">%s</span></li>",
			    h->state == HOOK_ON ? "on" : "off", h->name,
			    h->state == HOOK_ON ? h->mechanism
			    : h->why[0]		? h->why
						: "off");
	}
	buf_puts(b, "</ul></td></tr>\n");
}

void html_facts(struct buf *b, const struct story_view *s)
{
	const struct model *m = s->v->m;
	double seconds = story_seconds(s);
	char levels[64], share[32] = "";

	html_section(b, "facts", "The run", NULL);
	put_tiles(b, s);
	buf_puts(b,
		 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Facts of the "
		 "run\"><table class=\"facts\"><tbody>\n");
	if (seconds > 0)
		snprintf(share, sizeof(share), " (%.2f%% of one)",
			 m->tick.own_cpu_ns / 1e7 / seconds);
	html_printf(b, FACT("host", "%s, Linux %s %s, %u %s"), m->host.host, m->host.kernel,
		    m->host.arch, m->host.cpus, as_words(m->host.cpus, "CPU{|s}").s);
	html_printf(b, FACT("started", "%s (UTC)"), as_utc(m->host.wall_ns).s);
	html_printf(b, FACT("duration", "%s, %" PRIu64 " %s, one every %s"), as_span(seconds).s,
		    s->h->looks, as_words(s->h->looks, "scan{|s}").s,
		    as_span(m->host.interval_ns / 1e9).s);
	html_printf(b, FACT("watched", "%s"), m->host.target[0] ? m->host.target : "all processes");
	html_printf(b, FACT("by", "faultscope %s; overhead levels: %s"), m->host.version,
		    overhead_levels_text(m->host.tiers, levels, sizeof(levels)));
	html_printf(b, FACT("its own cost", "%s of CPU%s, %s"), as_duration(m->tick.own_cpu_ns).s,
		    share, as_bytes(m->tick.own_rss_bytes).s);
	put_losses(b, s);
	put_hooks(b, m);
	buf_puts(b, "</tbody></table></div>\n");
	html_section_end(b);
}

static void put_value(struct buf *b, const struct field *f, const struct history_row *r)
{
	uint64_t n = r->value[f - fields];

	if (!r->known[f - fields])
		buf_puts(b, "<td data-v=\"0\"><span class=\"dim\">?</span></td>");
	else
		html_cell(b, NULL, n, as_field_total(f, n).s);
}

static void put_process(struct buf *b, const struct story_view *s, const struct history_row *r)
{
	char workload[256];

	story_workload(r, workload, sizeof(workload));
	html_printf(b,
		    "<tr data-pid=\"%u\" data-start=\"%" PRIu64
		    "\" data-first=\"%.3f\" data-last=\"%.3f\"><th scope=\"row\">%s <span "
		    "class=\"dim\">%u</span></th><td class=\"t\">%s</td>",
		    r->id.pid, (uint64_t)r->id.start_ns, view_seconds(s->v, r->first_ns),
		    view_seconds(s->v, r->last_ns), r->comm, r->id.pid, workload);
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].html)
			put_value(b, &fields[i], r);
	buf_printf(b, "<td class=\"t\">%s%s</td></tr>\n", r->final ? "ended" : "lives",
		   r->signal ? ", by a signal" : "");
}

void html_processes(struct buf *b, const struct story_view *s)
{
	const struct history_row **rows = buf_needs(b, story_rows(s));
	char name[64];

	html_section(b, "processes", "Processes",
		     "The processes with the most page faults. Counters are totals since "
		     "faultscope started watching; other values are the last ones seen.");
	buf_puts(b, "<p class=\"tools\" hidden><label>Filter <input type=\"search\" "
		    "id=\"process-filter\"></label></p>\n"
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
		    "processes\">"
		    "<table class=\"sortable numbers\" id=\"process-table\"><thead><tr><th "
		    "scope=\"col\" data-of=\"process\">process</th><th scope=\"col\" "
		    "data-of=\"workload\">workload</th>");
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].html) {
			field_name(&fields[i], name, sizeof(name));
			buf_printf(b,
				   "<th scope=\"col\" class=\"n\" data-of=\"field:%s\" "
				   "title=\"%s\">%s</th>",
				   name, name, fields[i].html);
		}
	buf_puts(b, "<th scope=\"col\">state</th></tr></thead><tbody>\n");
	for (size_t i = 0; rows && i < s->h->rows && i < PROCESSES_SHOWN; i++)
		put_process(b, s, rows[i]);
	buf_puts(b, "</tbody></table></div>\n");
	if (s->h->rows > PROCESSES_SHOWN)
		html_note(b, "left:processes", history_processes(s->h) - PROCESSES_SHOWN,
			  " more are in the CSV of <code>faultscope report --format csv</code>.");
	html_section_end(b);
	free(rows);
}

void html_bar(struct buf *b, uint64_t n, uint64_t most)
{
	buf_printf(b,
		   "<td class=\"bar\" aria-hidden=\"true\"><svg viewBox=\"0 0 100 8\" "
		   "preserveAspectRatio=\"none\"><rect width=\"%.1f\" height=\"8\"/></svg></td>",
		   most ? 100.0 * n / most : 0);
}

static void put_held_rows(struct buf *b, const struct history_row *r, enum what what)
{
	const struct holdings *h = &r->held[what];

	html_printf(b,
		    "<h3><span data-is=\"process\" data-pid=\"%u\">%s[%u]</span> held</h3>\n<div "
		    "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What %u held: "
		    "%s\"><table data-held=\"%d\" data-pid=\"%u\"><thead><tr><th "
		    "scope=\"col\">what</th><th scope=\"col\">kind</th><th scope=\"col\" "
		    "class=\"n\">count</th><td></td>",
		    r->id.pid, r->comm, r->id.pid, r->id.pid,
		    what == WHAT_MAPS ? "mappings" : "file descriptors", what, r->id.pid);
	buf_puts(b, what == WHAT_MAPS ? "<th scope=\"col\" class=\"n\">size</th>" : "");
	buf_puts(b, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < h->n && i < SORTS_SHOWN; i++) {
		const struct holding *g = &h->sort[i];

		html_printf(b, "<tr><th scope=\"row\" data-is=\"held:name\">%s</th><td>%s</td>",
			    g->name, holding_kind_name(g->kind));
		html_cell(b, "held:count", g->count, as_count(g->count).s);
		html_bar(b, g->count, h->sort[0].count);
		if (what == WHAT_MAPS)
			html_cell(b, "held:bytes", g->bytes, as_bytes(g->bytes).s);
		buf_puts(b, "</tr>\n");
	}
	buf_puts(b, "</tbody></table></div>\n");
}

/*
 * Writes what a process created, grouped by name. For each name, writes the call stack that created
 * most.
 */
static bool put_creators(struct buf *b, const struct story_view *s, const struct history_row *r,
			 enum what what)
{
	struct grower g[SORTS_SHOWN];
	uint64_t added;
	size_t n = buf_rows(b, growers_of(s->v->m, &r->id, what, g, SORTS_SHOWN, &added));

	if (!n)
		return false;
	html_printf(
		b,
		"<h3><span data-is=\"process\" data-pid=\"%u\">%s[%u]</span> made <span "
		"data-is=\"made:all\" data-pid=\"%u\" data-what=\"%d\" data-v=\"%.17g\">%s</span>"
		"</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"What %u made\"><table data-made=\"%d\" "
		"data-pid=\"%u\"><thead><tr><th scope=\"col\">what</th><th "
		"scope=\"col\" class=\"n\">made</th><th scope=\"col\" "
		"class=\"n\">gone</th><td></td><th scope=\"col\">by</th></tr></thead><tbody>\n",
		r->id.pid, r->comm, r->id.pid, r->id.pid, what, (double)added, as_count(added).s,
		r->id.pid, what, r->id.pid);
	for (size_t i = 0; i < n; i++) {
		const struct frames *f = model_frames(s->v->m, &r->id, g[i].stack);

		html_printf(b, "<tr><th scope=\"row\" data-is=\"made:name\">%s%s</th>", g[i].name,
			    g[i].sampled ? " (estimated from samples)" : "");
		html_cell(b, "made:added", g[i].added, as_count(g[i].added).s);
		html_cell(b, "made:removed", g[i].removed, as_count(g[i].removed).s);
		html_bar(b, g[i].added, g[0].added);
		buf_puts(b, "<td data-is=\"stack\">");
		html_stack(b, f, FRAMES_SHOWN);
		buf_puts(b, "</td></tr>\n");
	}
	buf_puts(b, "</tbody></table></div>\n");
	return true;
}

static int by_maps(const void *a, const void *b)
{
	const struct history_row *x = *(const struct history_row *const *)a;
	const struct history_row *y = *(const struct history_row *const *)b;
	uint64_t n = history_field(x, FIELD(map_high)), k = history_field(y, FIELD(map_high));

	return n < k ? 1 : n > k ? -1 : (int)x->id.pid - (int)y->id.pid;
}

static int by_fds(const void *a, const void *b)
{
	const struct history_row *x = *(const struct history_row *const *)a;
	const struct history_row *y = *(const struct history_row *const *)b;
	uint64_t n = history_field(x, FIELD(fd_high)), k = history_field(y, FIELD(fd_high));

	return n < k ? 1 : n > k ? -1 : (int)x->id.pid - (int)y->id.pid;
}

static uint64_t count_of(const struct history_row *r, enum what what)
{
	return history_field(r, what == WHAT_MAPS ? FIELD(map_count) : FIELD(fds));
}

/* Returns by how much the number of mappings or fds of a process grew; 0: it did not grow. */
static uint64_t growth_of(const struct history_row *r, enum what what)
{
	uint64_t now = count_of(r, what);

	return now > r->first_count[what] ? now - r->first_count[what] : 0;
}

static int by_growth(const void *a, const void *b, enum what what)
{
	uint64_t x = growth_of(*(const struct history_row *const *)a, what);
	uint64_t y = growth_of(*(const struct history_row *const *)b, what);

	return x < y ? 1 : x > y ? -1 : 0;
}

static int by_map_growth(const void *a, const void *b)
{
	return by_growth(a, b, WHAT_MAPS);
}

static int by_fd_growth(const void *a, const void *b)
{
	return by_growth(a, b, WHAT_FDS);
}

static void put_growth(struct buf *b, const struct history_row *r, enum what what)
{
	html_printf(b,
		    "<tr data-pid=\"%u\" data-start=\"%" PRIu64
		    "\"><th scope=\"row\">%s <span class=\"dim\">%u</span></th>",
		    r->id.pid, (uint64_t)r->id.start_ns, r->comm, r->id.pid);
	html_cell(b, NULL, r->first_count[what], as_count(r->first_count[what]).s);
	html_cell(b, NULL, count_of(r, what), as_count(count_of(r, what)).s);
	buf_printf(b, "<td><strong>+%s</strong></td>", as_count(growth_of(r, what)).s);
	put_value(b, what == WHAT_MAPS ? FIELD(map_limit) : FIELD(fd_soft), r);
	buf_printf(b, "<td class=\"t\">%s</td></tr>\n", r->final ? "ended" : "lives");
}

static void put_growth_head(struct buf *b, enum what what)
{
	const char *title = what == WHAT_MAPS ? "mappings" : "file descriptors";
	const char *group = what == WHAT_MAPS ? "maps" : "fds", *limit;
	char name[64];

	limit = field_name(what == WHAT_MAPS ? FIELD(map_limit) : FIELD(fd_soft), name,
			   sizeof(name));
	buf_printf(b,
		   "<h3>Processes with more %s than at first</h3>\n<div class=\"scroll\" "
		   "tabindex=\"0\" role=\"region\" aria-label=\"Growth of %s\"><table "
		   "class=\"numbers\"><thead><tr><th scope=\"col\" data-of=\"process\">process"
		   "</th><th scope=\"col\" class=\"n\" data-of=\"first:%s.count\">at first</th><th "
		   "scope=\"col\" class=\"n\" data-of=\"field:%s.count\">at the end</th><th "
		   "scope=\"col\" class=\"n\" data-of=\"growth:%s.count\">growth</th><th "
		   "scope=\"col\" class=\"n\" data-of=\"field:%s\">limit</th><th "
		   "scope=\"col\">state</th></tr></thead><tbody>\n",
		   title, title, group, group, group, limit);
}

/* Lists the processes that live, or ended, with more mappings or fds than at first. */
static void put_all_growth(struct buf *b, const struct history_row **rows, size_t n, enum what what)
{
	size_t shown = 0;

	qsort(rows, n, sizeof(*rows), what == WHAT_MAPS ? by_map_growth : by_fd_growth);
	for (; shown < n && shown < GROWTH_SHOWN; shown++) {
		if (growth_of(rows[shown], what) < GROWTH_LEAST)
			break;
		if (!shown)
			put_growth_head(b, what);
		put_growth(b, rows[shown], what);
	}
	if (shown)
		buf_puts(b, "</tbody></table></div>\n");
}

void html_held(struct buf *b, const struct story_view *s, enum what what)
{
	const struct history_row **rows = buf_needs(b, story_rows(s));
	size_t shown = 0;

	if (what == WHAT_MAPS)
		html_section(b, "mappings", "Mappings",
			     "Mappings by kind and name (digits become #), and the code that "
			     "created them.");
	else
		html_section(
			b, "descriptors", "File descriptors",
			"Open file descriptors by kind and name, and the code that opened them.");
	if (rows) {
		put_all_growth(b, rows, s->h->rows, what);
		qsort(rows, s->h->rows, sizeof(*rows), what == WHAT_MAPS ? by_maps : by_fds);
	}
	for (size_t i = 0; rows && i < s->h->rows && shown < HOLDERS_SHOWN; i++) {
		bool any = rows[i]->held[what].n;

		if (any)
			put_held_rows(b, rows[i], what);
		any |= put_creators(b, s, rows[i], what);
		shown += any;
	}
	if (!shown)
		buf_puts(b, "<p class=\"note\">What processes held is not in this recording. "
			    "<code>faultscope record</code> reads it for the processes with the "
			    "most, and records "
			    "the code for the processes that are named with -p.</p>\n");
	html_section_end(b);
	free(rows);
}
