// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/incident_pages.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/style.h"
#include "render/utc.h"
#include "rules/diagnoses.h"

const char *incident_trigger_name(uint32_t trigger)
{
	static const char *const name[] = {
#define X(id, text) text,
		INCIDENT_TRIGGERS(X)
#undef X
	};

	return trigger < NR_INCIDENT_TRIGGERS ? name[trigger] : "unknown";
}

const char *incident_severity_name(const struct incident_record *r)
{
	return r->severity && r->severity <= NR_SEVERITIES ? severity_name(r->severity - 1) : NULL;
}

const char *incident_kind(const struct incident_record *r)
{
	return r->finding[0] ? r->finding : incident_trigger_name(r->trigger);
}

void incident_title(const struct incident_record *r, char *ret, size_t size)
{
	if (r->title[0])
		snprintf(ret, size, "%s", r->title);
	else if (r->finding[0])
		snprintf(ret, size, "%s", diagnosis_slug(r->finding));
	else
		snprintf(ret, size, "%s", incident_trigger_name(r->trigger));
}

static const char *workload_text(const struct incident_record *r)
{
	return r->workload[0] ? r->workload : "(host)";
}

void incident_list_heading(struct buf *b, const struct view *v)
{
	styled_line(b, v, STYLE_DIM, "%3s  %-20s  %-8s  %-24s  %9s  %s", "#", "when", "trigger",
		    "workload", "size", "what");
}

void incident_list_line(struct buf *b, const struct view *v, const struct incident_page *p)
{
	char title[256];

	if (!p->r) {
		styled_wrap(b, v, STYLE_PLAIN, 5, "%3zu  %-20s  %-8s  %-24s  %9s  %s: %s",
			    p->number, "-", "-", "-", as_bytes(p->bytes).s, p->file, p->why);
		return;
	}
	incident_title(p->r, title, sizeof(title));
	styled_wrap(b, v, STYLE_PLAIN, 5, "%3zu  %-20s  %-8s  %-24.24s  %9s  %s", p->number,
		    as_utc(p->r->wall_ns).s, incident_kind(p->r), workload_text(p->r),
		    as_bytes(p->bytes).s, title);
}

static double span_s(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? (to_ns - from_ns) / 1e9 : 0;
}

static void put_detail(struct buf *b, const struct view *v, const struct incident_record *r)
{
	char text[256] = "";

	if (r->raised & INCIDENT_RAISED_SCANS)
		strcat(text, "a scan each second");
	if (r->raised & INCIDENT_RAISED_MAPS)
		strcat(text, *text ? ", mappings" : "mappings");
	if (r->raised & INCIDENT_RAISED_FDS)
		strcat(text, *text ? ", file descriptors" : "file descriptors");
	if (*text)
		text_wrapped(b, v, "more detail  ", text);
	if (r->not_raised[0])
		text_wrapped(b, v, "not recorded ", r->not_raised);
}

void incident_page_text(struct buf *b, const struct view *v, const struct incident_page *p)
{
	const struct incident_record *r = p->r;
	char title[256], text[256];

	if (!r) {
		styled_wrap(b, v, STYLE_PLAIN, 4, "%s: %s", p->file, p->why);
		return;
	}
	incident_title(r, title, sizeof(title));
	styled_wrap(b, v, STYLE_BOLD, 4, "%s", title);
	text_wrapped(b, v, "when         ", as_utc_ms(r->wall_ns).s);
	snprintf(text, sizeof(text), "%s%s%s%s", incident_trigger_name(r->trigger),
		 r->finding[0] ? ": " : "", r->finding, r->severity == 3 ? ", critical" : "");
	text_wrapped(b, v, "trigger      ", text);
	if (r->cause[0])
		text_wrapped(b, v, "cause        ", r->cause);
	text_wrapped(b, v, "workload     ", workload_text(r));
	snprintf(text, sizeof(text), "%s (pid %u)", r->comm, r->subject.pid);
	if (r->subject.pid)
		text_wrapped(b, v, "process      ", text);
	snprintf(text, sizeof(text), "%s before the trigger, %s after it",
		 as_span(span_s(r->h.t_ns, r->at_ns)).s, as_span(span_s(r->at_ns, r->until_ns)).s);
	text_wrapped(b, v, "contains     ", text);
	put_detail(b, v, r);
	snprintf(text, sizeof(text), "%u further %s", r->more,
		 as_words(r->more, "trigger{|s} of this workload").s);
	if (r->more)
		text_wrapped(b, v, "also         ", text);
	snprintf(text, sizeof(text), "%s, %s", p->file, as_bytes(p->bytes).s);
	text_wrapped(b, v, "file         ", text);
	buf_printf(b, "\n  the report:          faultscope incidents report %zu\n", p->number);
	buf_printf(b, "  what changed:        faultscope incidents compare %zu\n", p->number);
	buf_printf(b, "  in the live view:    faultscope replay %s\n", p->file);
}
