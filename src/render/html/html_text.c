// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the parts of a page that are text and tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/overhead.h"
#include "base/units.h"
#include "model/fields.h"
#include "model/growers.h"
#include "model/holdings.h"
#include "render/completeness.h"
#include "render/html/html.h"
#include "render/losses.h"
#include "render/text/text.h"
#include "render/utc.h"
#include "rules/diagnoses.h"
#include "rules/fault.h"

#define FINDINGS_SHOWN	24
#define PROCESSES_SHOWN 60
#define EVENTS_SHOWN	120
#define SORTS_SHOWN	12
#define HOLDERS_SHOWN	6
#define FRAMES_SHOWN	8

static void put_severity(struct buf *b, enum severity s)
{
	static const char *const mark[NR_SEVERITIES] = {"i", "!", "\xe2\x9c\x95"};

	buf_printf(b, "<span class=\"sev %s\"><span aria-hidden=\"true\">%s</span> %s</span>",
		   severity_name(s), mark[s], severity_name(s));
}

static void put_all_evidence(struct buf *b, const struct finding *f)
{
	if (!f->nr_evidence)
		return;
	buf_puts(b, "<dl class=\"evidence\">");
	for (size_t i = 0; i < f->nr_evidence; i++) {
		struct buf value = {};

		evidence_put(&value, &f->evidence[i]);
		html_printf(b, "<div><dt>%s</dt><dd>%s</dd></div>", f->evidence[i].field,
			    value.s ? value.s : "");
		buf_end_part(b, &value);
	}
	buf_puts(b, "</dl>");
}

static void put_forecast(struct buf *b, const struct finding *f)
{
	if (!f->forecast.known)
		return;
	buf_printf(b,
		   "<p class=\"note\">Full in <strong>%s</strong> (%s to %s) from the end of the "
		   "recording, <a href=\"#gauges\">at this rate</a>.</p>",
		   as_span(f->forecast.seconds).s, as_span(f->forecast.low).s,
		   as_span(f->forecast.high).s);
}

static void put_because(struct buf *b, const struct finding *f)
{
	for (size_t i = 0; i < f->nr_because; i++) {
		const struct diagnosis *d = diagnosis_find(f->because[i]->id);

		buf_printf(b, "<p class=\"note\">Because of <a href=\"#finding-%s\">%s %s</a>",
			   f->because[i]->id, f->because[i]->id, d ? d->slug : "");
		if (d)
			html_printf(b, ": %s", d->title);
		buf_puts(b, "</p>");
	}
}

static void put_remedies(struct buf *b, const struct finding *f)
{
	if (!f->nr_remedies)
		return;
	buf_puts(b, "<ul class=\"remedy\">");
	for (size_t i = 0; i < f->nr_remedies; i++) {
		const struct remedy *r = &f->remedy[i];

		html_printf(b, "<li><span class=\"tag\">%s</span> %s", remedy_kind_name(r->kind),
			    r->text);
		if (r->command[0])
			html_printf(b, " <code>%s</code>", r->command);
		if (r->risk[0])
			html_printf(b, " <span class=\"dim\">Risk: %s</span>", r->risk);
		buf_puts(b, "</li>");
	}
	buf_puts(b, "</ul>");
}

static void put_finding(struct buf *b, const struct finding *const *all, size_t nth, bool anchor)
{
	const struct finding *f = all[nth];

	buf_printf(b, "<article class=\"finding %s\"", severity_name(f->worst));
	if (anchor)
		buf_printf(b, " id=\"finding-%s\"", f->rule->id);
	buf_puts(b, "><h3>");
	put_severity(b, f->worst);
	buf_printf(b, " <span class=\"id\">%s %s</span> ", f->rule->id,
		   diagnosis_slug(f->rule->id));
	if (f->rule->trigger != ON_HOST) {
		char who[WHO_BYTES];

		finding_who(f, who, sizeof(who));
		html_printf(b, "%s: ", who);
	}
	html_printf(b, "%s</h3>", f->title);
	put_all_evidence(b, f);
	put_because(b, f);
	put_forecast(b, f);
	if (f->set_by[0])
		html_printf(b, "<p class=\"note\">The limit is set by %s</p>", f->set_by);
	put_remedies(b, f);
	buf_puts(b, "</article>\n");
}

/* Returns whether a finding is an event. Events are listed before states (conditions that last). */
static bool has_happened(const struct finding *f)
{
	return !rule_is_state(f->rule);
}

static int by_gravity(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;

	if (x->worst != y->worst)
		return x->worst < y->worst ? 1 : -1;
	if (has_happened(x) != has_happened(y))
		return has_happened(x) ? -1 : 1;
	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

static bool is_anchor(const struct finding *const *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (f[k]->rule == f[i]->rule)
			return false;
	return true;
}

static void put_checked(struct buf *b, const struct story_view *s)
{
	const struct model *m = s->v->m;
	bool blind = false;

	buf_puts(b, "<p class=\"note\">Checked: limits of mappings, file descriptors, locked "
		    "memory, threads and cgroups; failed calls; crashes; commit limit, swap and "
		    "open files of the host; forecasts of growth.");
	for (size_t i = 0; i < m->hooks; i++)
		if (m->hook[i].state != HOOK_ON) {
			html_printf(b, "%s%s",
				    blind ? ", "
					  : " Not seen, because a probe was off or unavailable: ",
				    m->hook[i].name);
			blind = true;
		}
	buf_puts(b, blind ? ".</p>\n" : "</p>\n");
}

void html_gaps(struct buf *b, const struct buf *gaps)
{
	struct buf joined = {};

	if (!has_gaps(gaps))
		return;
	gaps_join(&joined, gaps);
	html_printf(b, "<p class=\"note\">Incomplete: %s.</p>\n",
		    joined.s ? joined.s : "out of memory");
	buf_end_part(b, &joined);
}

/* Writes that there is no finding. Says that all is well only if the result has no gap. */
static void put_no_finding(struct buf *b, const struct story_view *s)
{
	struct buf gaps = {};

	gaps_of(&gaps, s->v);
	if (!s->v->findings->n && !has_gaps(&gaps))
		buf_puts(b, "<p class=\"well\"><span aria-hidden=\"true\">\xe2\x9c\x93</span> No "
			    "findings: no checked value is near its limit, and no call failed at a "
			    "limit.</p>\n");
	else if (!s->v->findings->n)
		buf_puts(b,
			 "<p>No finding in what was checked, but the result is incomplete.</p>\n");
	html_gaps(b, &gaps);
	buf_free(&gaps);
}

void html_verdict(struct buf *b, const struct story_view *s)
{
	const struct findings *fs = s->v->findings;
	const struct finding **f = buf_needs(b, calloc(fs->n + 1, sizeof(*f)));

	html_section(b, "verdict", "Verdict", NULL);
	for (size_t i = 0; f && i < fs->n; i++)
		f[i] = &fs->f[i];
	if (f)
		qsort(f, fs->n, sizeof(*f), by_gravity);
	put_no_finding(b, s);
	for (size_t i = 0; f && i < fs->n && i < FINDINGS_SHOWN; i++)
		put_finding(b, f, i, is_anchor(f, i));
	if (fs->n > FINDINGS_SHOWN)
		buf_printf(b, "<p class=\"note\">%zu more are in the data.</p>\n",
			   fs->n - FINDINGS_SHOWN);
	put_checked(b, s);
	html_section_end(b);
	free(f);
}

static void put_tile(struct buf *b, const char *title, struct number_text value, const char *more)
{
	html_printf(b, "<div class=\"tile\"><dt>%s</dt><dd>%s</dd>", title, value.s);
	if (more && *more)
		html_printf(b, "<dd class=\"more\">%s</dd>", more);
	buf_puts(b, "</div>");
}

static void put_peak(struct buf *b, const char *title, const struct peak *p)
{
	struct buf more = {};

	buf_printf(&more, "of %s", as_limit(p->limit).s);
	if (p->limit && p->limit != UINT64_MAX)
		buf_printf(&more, " (%.1f%%)", 100.0 * p->value / p->limit);
	buf_printf(&more, ", %s[%u]", p->comm, p->pid);
	put_tile(b, title, as_count(p->value), more.s);
	buf_end_part(b, &more);
}

static void put_tiles(struct buf *b, const struct story_view *s)
{
	struct totals t;
	char more[64];

	model_totals(s->v->m, &t);
	buf_puts(b, "<dl class=\"tiles\" id=\"tiles\">");
	put_tile(b, "minor faults", as_count(history_total(s->h, FIELD(min_flt))), "");
	put_tile(b, "major faults", as_count(history_total(s->h, FIELD(maj_flt))), "");
	if (is_available(s->v->m, "fault_end", 0))
		put_tile(b, "stalled in faults", as_duration(history_total(s->h, FIELD(stall))),
			 "of all threads");
	else
		put_tile(b, "stalled in faults", (struct number_text){"?"},
			 "not measured: overhead level latency was off");
	put_peak(b, "peak of mappings", &t.maps);
	put_peak(b, "peak of open fds", &t.fds);
	snprintf(more, sizeof(more), "%" PRIu64 " ended", history_ended(s->h));
	put_tile(b, "processes", as_count(history_processes(s->h)), more);
	buf_puts(b, "</dl>\n");
}

#define FACT(key, value) "<tr><th scope=\"row\">" key "</th><td>" value "</td></tr>\n"

/*
 * Appends the losses above 0 to a list. `any` is true if the list has entries already. Returns
 * whether the list has entries now.
 */
static bool put_lost(struct buf *b, const struct loss *lost, size_t n, bool any)
{
	for (size_t i = 0; i < n; i++)
		if (lost[i].n) {
			buf_printf(b, "%s%s %s", any ? "; " : "", as_count(lost[i].n).s,
				   lost[i].about);
			any = true;
		}
	return any;
}

static void put_losses(struct buf *b, const struct story_view *s)
{
	const struct loss own[] = {
		{.about = "events left out of this report", .n = s->h->events_lost},
		{.about = "processes that ended and have no row of their own: their counters are "
			  "added up in the row " HISTORY_OTHERS,
		 .n = s->h->rows_lost - s->h->beyond},
		{.about = "processes left out of this report", .n = s->h->beyond},
		{.about = "bytes of the file that cannot be read", .n = s->file.lost_bytes},
	};
	struct loss all[LOSSES_MAX];
	bool any = false;

	buf_puts(b, "<tr><th scope=\"row\">lost</th><td>");
	any |= put_lost(b, all, losses_of(s->v, all), any);
	any |= put_lost(b, own, sizeof(own) / sizeof(own[0]), any);
	buf_puts(b, any ? "</td></tr>\n" : "nothing</td></tr>\n");
}

static void put_hooks(struct buf *b, const struct model *m)
{
	buf_puts(b, "<tr><th scope=\"row\">probes</th><td><ul class=\"hooks\">");
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
	html_printf(b, FACT("host", "%s, Linux %s %s, %u CPUs"), m->host.host, m->host.kernel,
		    m->host.arch, m->host.cpus);
	html_printf(b, FACT("started", "%s"), as_utc(m->host.wall_ns).s);
	html_printf(b, FACT("duration", "%s, %" PRIu64 " scans, one every %s"), as_span(seconds).s,
		    s->h->looks, as_span(m->host.interval_ns / 1e9).s);
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

	buf_printf(b, "<td class=\"n\" data-v=\"%" PRIu64 "\">", r->known[f - fields] ? n : 0);
	if (!r->known[f - fields])
		buf_puts(b, "<span class=\"dim\">?</span></td>");
	else
		buf_printf(b, "%s</td>", as_field_total(f, n).s);
}

static void put_process(struct buf *b, const struct story_view *s, const struct history_row *r)
{
	char workload[256];

	story_workload(r, workload, sizeof(workload));
	html_printf(b,
		    "<tr data-pid=\"%u\" data-first=\"%.3f\" data-last=\"%.3f\"><th "
		    "scope=\"row\">%s <span class=\"dim\">%u</span></th><td>%s</td>",
		    r->id.pid, view_seconds(s->v, r->first_ns), view_seconds(s->v, r->last_ns),
		    r->comm, r->id.pid, workload);
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].html)
			put_value(b, &fields[i], r);
	buf_printf(b, "<td>%s%s</td></tr>\n", r->final ? "ended" : "lives",
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
		    "<table class=\"sortable\" id=\"process-table\"><thead><tr><th scope=\"col\">"
		    "process</th><th scope=\"col\">workload</th>");
	for (size_t i = 0; i < nr_fields; i++)
		if (fields[i].html)
			buf_printf(b, "<th scope=\"col\" class=\"n\" title=\"%s\">%s</th>",
				   field_name(&fields[i], name, sizeof(name)), fields[i].html);
	buf_puts(b, "<th scope=\"col\">state</th></tr></thead><tbody>\n");
	for (size_t i = 0; rows && i < s->h->rows && i < PROCESSES_SHOWN; i++)
		put_process(b, s, rows[i]);
	buf_puts(b, "</tbody></table></div>\n");
	if (s->h->rows > PROCESSES_SHOWN)
		buf_printf(b,
			   "<p class=\"note\">%zu more are in the CSV of <code>faultscope report "
			   "--format csv</code>.</p>\n",
			   s->h->rows - PROCESSES_SHOWN);
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

	html_printf(b, "<h3>%s", r->comm);
	buf_printf(b,
		   "[%u] held</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		   "aria-label=\"What %u held: %s\"><table><thead><tr><th scope=\"col\">what</th>"
		   "<th scope=\"col\">kind</th><th scope=\"col\" class=\"n\">count</th><td></td>"
		   "%s</tr></thead><tbody>\n",
		   r->id.pid, r->id.pid, what == WHAT_MAPS ? "mappings" : "file descriptors",
		   what == WHAT_MAPS ? "<th scope=\"col\" class=\"n\">size</th>" : "");
	for (size_t i = 0; i < h->n && i < SORTS_SHOWN; i++) {
		const struct holding *g = &h->sort[i];

		html_printf(b, "<tr><th scope=\"row\">%s</th><td>%s</td><td class=\"n\">%s</td>",
			    g->name, holding_kind_name(g->kind), as_count(g->count).s);
		html_bar(b, g->count, h->sort[0].count);
		if (what == WHAT_MAPS)
			buf_printf(b, "<td class=\"n\">%s</td>", as_bytes(g->bytes).s);
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
	html_printf(b,
		    "<h3>%s[%u] made %s</h3>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		    "aria-label=\"What %u made\"><table><thead><tr><th scope=\"col\">what</th><th "
		    "scope=\"col\" class=\"n\">made</th><th scope=\"col\" "
		    "class=\"n\">gone</th><td></td><th scope=\"col\">by</th></tr></thead><tbody>\n",
		    r->comm, r->id.pid, as_count(added).s, r->id.pid);
	for (size_t i = 0; i < n; i++) {
		const struct frames *f = model_frames(s->v->m, &r->id, g[i].stack);

		html_printf(b,
			    "<tr><th scope=\"row\">%s%s</th><td class=\"n\">%s</td><td "
			    "class=\"n\">%s</td>",
			    g[i].name, g[i].sampled ? " (estimated from samples)" : "",
			    as_count(g[i].added).s, as_count(g[i].removed).s);
		html_bar(b, g[i].added, g[0].added);
		buf_puts(b, "<td>");
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
	if (rows)
		qsort(rows, s->h->rows, sizeof(*rows), what == WHAT_MAPS ? by_maps : by_fds);
	for (size_t i = 0; rows && i < s->h->rows && shown < HOLDERS_SHOWN; i++) {
		bool any = rows[i]->held[what].n;

		if (any)
			put_held_rows(b, rows[i], what);
		any |= put_creators(b, s, rows[i], what);
		shown += any;
	}
	if (!shown)
		buf_puts(b, "<p class=\"note\">Not in this recording. <code>faultscope "
			    "record</code> reads it for the processes with the most, and records "
			    "the code for the processes that are named with -p.</p>\n");
	html_section_end(b);
	free(rows);
}

static void put_signal(struct buf *b, const struct story_view *s, const struct signal_record *r)
{
	struct verdict fault;
	char name[24];

	fault_of(r, &s->v->m->tick.limits, &fault);
	html_printf(b, "%s, code %d: %s", signal_name(r->signal, name, sizeof(name)), r->code,
		    fault.cause);
	if (*r->file.name)
		html_printf(b, ", in %s", r->file.name);
	for (size_t i = 0; i < fault.nr_evidence; i++) {
		buf_puts(b, i ? ", " : " <span class=\"dim\">");
		struct buf value = {};

		evidence_put(&value, &fault.evidence[i]);
		html_printf(b, "%s %s", fault.evidence[i].field, value.s ? value.s : "");
		buf_end_part(b, &value);
	}
	buf_puts(b, fault.nr_evidence ? "</span>" : "");
}

static void put_refused(struct buf *b, const struct story_view *s, const struct refused_record *r)
{
	const struct frames *f = model_frames(s->v->m, &r->subject, r->stack);
	struct verdict verdict;
	char name[24];

	cause_of(r, &s->v->m->tick.limits, s->v->m->host.arch, &verdict);
	buf_printf(b, "%s refused with %s: <strong>%s</strong>%s", call_name(r->call),
		   r->error ? errno_name(r->error, name, sizeof(name)) : "no errno", verdict.cause,
		   verdict.certain ? "" : " (not certain)");
	if (r->count > 1)
		buf_printf(b, ", %s times so far", as_count(r->count).s);
	if (f)
		html_stack(b, f, FRAMES_SHOWN);
}

static void put_kernel_fault(struct buf *b, const struct story_view *s,
			     const struct kernel_fault_record *r)
{
	const struct symbol *sym = model_symbol(s->v->m, r->ip);

	buf_puts(b, r->nofault ? "probing read of the kernel" : "bad access in the kernel");
	if (sym) {
		html_printf(b, " in %s", sym->symbol);
		if (sym->module[0])
			html_printf(b, " of %s", sym->module);
	}
	buf_printf(b, ", %" PRIu64 " so far", (uint64_t)r->count);
}

/* Writes an event. Every event record has its process at the offset of crossing.subject. */
static void put_event(struct buf *b, const struct story_view *s, const union event *e)
{
	double t = view_seconds(s->v, e->h.t_ns);

	html_printf(b,
		    "<tr data-t=\"%.3f\"><td class=\"n\">%.3f s</td><th scope=\"row\">%s <span "
		    "class=\"dim\">%u</span></th><td>",
		    t, t, event_comm(e), e->crossing.subject.pid);
	switch (e->h.kind) {
	case RECORD_CROSSING:
		buf_printf(b, "%s passed %u%% of the limit: ",
			   e->crossing.what == WHAT_MAPS ? "mappings" : "file descriptors",
			   e->crossing.percent);
		buf_printf(b, "%s of %s", as_count(e->crossing.value).s,
			   as_count(e->crossing.limit).s);
		break;
	case RECORD_REFUSED:
		put_refused(b, s, &e->refused);
		break;
	case RECORD_SIGNAL:
		put_signal(b, s, &e->signal);
		break;
	case RECORD_OOM:
		html_printf(b, "chosen by the OOM killer, called by %s %u", e->oom.by_comm,
			    e->oom.by);
		break;
	default:
		put_kernel_fault(b, s, &e->kernel_fault);
	}
	buf_puts(b, "</td></tr>\n");
}

void html_events(struct buf *b, const struct story_view *s)
{
	html_section(b, "events", "Signals, refusals and kernel events", NULL);
	if (!s->h->events) {
		buf_puts(b, "<p class=\"note\">None: no call failed at a limit, no fault signal "
			    "was sent, "
			    "nobody was killed.</p>\n");
		html_section_end(b);
		return;
	}
	buf_puts(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
		    "events\">"
		    "<table id=\"event-table\"><thead><tr><th scope=\"col\" class=\"n\">at</th><th "
		    "scope=\"col\">process</th><th scope=\"col\">what</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < s->h->events && i < EVENTS_SHOWN; i++)
		put_event(b, s, &s->h->event[i]);
	buf_puts(b, "</tbody></table></div>\n");
	if (s->h->events > EVENTS_SHOWN)
		buf_printf(b, "<p class=\"note\">%zu more follow.</p>\n",
			   s->h->events - EVENTS_SHOWN);
	html_section_end(b);
}
