// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes pages of the live view: a process, a diagnosis, a finding, the kernel, help. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/resident.h"
#include "model/slow.h"
#include "render/completeness.h"
#include "render/text/explain_text.h"
#include "render/text/text.h"
#include "render/tui/tui_parts.h"
#include "rules/diagnoses.h"

#define LABEL_COLUMNS 11
#define EVENTS_SHOWN  12

void tui_heading(struct buf *b, const struct view *v, const char *text)
{
	struct line l = {.v = v};

	line_printf(&l, "%s ", text);
	while (l.b.s && !l.b.failed && line_columns(&l) < v->width)
		line_printf(&l, v->unicode ? "\u2500" : "-");
	line_end(&l, b, STYLE_DIM);
}

#define TREND_LEAD 54 /* columns before the trend of a value */

/*
 * Writes a field's trend, oldest value first, and its range: "faults minor 12/s  0 to 28/s  ▁▂▅█".
 * The scale is this range.
 */
static void write_trend(const struct tui *t, const struct view *v, struct buf *b,
			const struct subject *s, const struct field *f, int cells)
{
	const char *per = f->type == FIELD_COUNTER ? "/s" : "";
	double seen[TREND_SAMPLES], most = 0, least = 0;
	struct line l = {.v = v};
	char now[48], range[80];
	uint64_t known;
	int there;

	if (!field_get(v->m, s, f, &known))
		return;
	there = trends_read(&t->trends, &s->id, f, seen, cells);
	for (int i = cells - there; i < cells; i++) {
		most = i == cells - there || seen[i] > most ? seen[i] : most;
		least = i == cells - there || seen[i] < least ? seen[i] : least;
	}
	snprintf(now, sizeof(now), "%s%s", as_field_figure(f, seen[cells - 1]).s, per);
	if (least < most)
		snprintf(range, sizeof(range), "%s to %s%s", as_field_figure(f, least).s,
			 as_field_figure(f, most).s, per);
	else
		snprintf(range, sizeof(range), "constant");
	line_printf(&l, " ");
	line_cell(&l, f->group[0] ? f->group : "process", 9, false);
	line_cell(&l, f->key, 10, false);
	line_cell(&l, now, 12, true);
	line_cell(&l, range, 20, true);
	line_printf(&l, "  ");
	buf_repeat(&l.b, " ", cells - there);
	line_style(&l, STYLE_ACCENT);
	line_spark(&l, seen + cells - there, there, least, most);
	line_style(&l, STYLE_PLAIN);
	line_end(&l, b, STYLE_PLAIN);
}

/* Writes the time axis below trends: "            60 s ago ───────── now". */
static void write_axis(const struct tui *t, const struct view *v, struct buf *b, int cells)
{
	size_t n = t->trends.window < (uint64_t)cells ? t->trends.window : (size_t)cells;
	struct line l = {.v = v};
	char from[64];

	if (n < 2)
		return;
	snprintf(from, sizeof(from), "%s ago ", as_span(trends_span(&t->trends, n)).s);
	buf_repeat(&l.b, " ", TREND_LEAD + cells - (int)n);
	line_printf(&l, "%s", (int)n > text_columns(from) + 4 ? from : "");
	while (l.b.s && !l.b.failed && line_columns(&l) < TREND_LEAD + cells - 4)
		line_printf(&l, v->unicode ? "\u2500" : "-");
	line_printf(&l, " now");
	line_end(&l, b, STYLE_DIM);
}

static void write_trends(const struct tui *t, const struct view *v, struct buf *b,
			 const struct subject *s)
{
	int cells = v->width - TREND_LEAD < TREND_SAMPLES ? v->width - TREND_LEAD : TREND_SAMPLES;

	if (cells < 1)
		cells = 1;
	for (size_t i = 0; i < t->trends.fields; i++)
		write_trend(t, v, b, s, t->trends.field[i], cells);
	write_axis(t, v, b, cells);
}

void tui_put_pair(struct line *l, struct buf *b, const char *key, const char *value, int indent)
{
	int columns = text_columns(key) + 1 + text_columns(value);

	if (line_columns(l) + columns > l->v->width) {
		line_end(l, b, STYLE_PLAIN);
		buf_repeat(&l->b, " ", indent);
	}
	line_printf(l, "%s %s  ", key, value);
}

/* Writes a table of counters that the process block does not show. Omits counters that are 0. */
static void write_grid(const struct view *v, struct buf *b, const struct grid *g,
		       const struct counters *c)
{
	struct line l = {.v = v};

	line_printf(&l, " %s", g->key);
	line_pad(&l, LABEL_COLUMNS);
	for (size_t row = 0; row < g->rows; row++)
		for (size_t i = 0; i < g->columns; i++) {
			uint64_t n = g->cell(c, row, i);
			char key[64];

			if (!n)
				continue;
			snprintf(key, sizeof(key), "%s%s%s", g->row(row), g->column ? "." : "",
				 g->column ? g->column[i] : "");
			tui_put_pair(&l, b, key, as_count(n).s, LABEL_COLUMNS);
		}
	if (line_columns(&l) > LABEL_COLUMNS)
		line_end(&l, b, STYLE_PLAIN);
	buf_end_part(b, &l.b);
}

static void write_grids(const struct view *v, struct buf *b, const struct subject *s)
{
	for (size_t i = 0; i < nr_grids; i++)
		if (strcmp(grids[i].key, "by_call") &&
		    is_available(v->m, grids[i].hook, grids[i].lacks))
			write_grid(v, b, &grids[i], facts_counters(&s->now));
}

static const struct process_key *subject_of(const union event *e)
{
	return &e->crossing.subject; /* in all event records, the process is at this offset */
}

/* Writes a record of slow faults, or of calls that waited for mmap_lock or held it. */
static void put_slow(struct buf *b, const struct view *v, const struct slow_faults_record *r)
{
	const char *what = r->class == CLASS_CALL     ? "call{|s} that waited for mmap_lock"
			   : r->class == CLASS_HOLDER ? "call{|s} that held mmap_lock"
						      : "slow fault{|s}";

	buf_printf(b, "%s %s", as_count(r->count).s, as_words(r->count, what).s);
	if (r->class != CLASS_CALL && r->class != CLASS_HOLDER)
		buf_printf(b, ", %s", slow_sort(r));
	if (r->file[0]) {
		buf_puts(b, " of ");
		buf_safe(b, r->file, v->unicode);
	}
	if (r->holder) {
		buf_puts(b, ", mmap_lock held by ");
		buf_safe(b, r->holder_comm, v->unicode);
		buf_printf(b, "[%u]", r->holder);
	}
	buf_printf(b, ": %s in all, at most %s", as_duration(r->total_ns).s,
		   as_duration(r->max_ns).s);
}

static void put_event(struct buf *b, const struct view *v, const union event *e)
{
	char name[32];

	switch (e->h.kind) {
	case RECORD_CROSSING:
		buf_printf(b, "%s passed %u %% of ",
			   e->crossing.what == WHAT_MAPS ? "mappings" : "file descriptors",
			   e->crossing.percent);
		put_limit(b, e->crossing.limit);
		break;
	case RECORD_REFUSED:
		buf_printf(b, "%s refused with %s", call_name(e->refused.call),
			   errno_name(e->refused.error, name, sizeof(name)));
		if (e->refused.count > 1)
			buf_printf(b, ", %" PRIu64 " times", (uint64_t)e->refused.count);
		break;
	case RECORD_SIGNAL:
		buf_printf(b, "%s, code %d", signal_name(e->signal.signal, name, sizeof(name)),
			   e->signal.code);
		break;
	case RECORD_KERNEL_FAULT:
		buf_printf(b, "kernel-mode fault %s",
			   e->kernel_fault.nofault ? "in a probing read" : "on a bad address");
		if (v->addresses)
			buf_printf(b, " 0x%" PRIx64, (uint64_t)e->kernel_fault.address);
		if (model_symbol(v->m, e->kernel_fault.ip)) {
			const struct symbol *at = model_symbol(v->m, e->kernel_fault.ip);

			buf_puts(b, " at ");
			buf_safe(b, at->symbol, v->unicode);
			buf_puts(b, " ");
			buf_safe(b, at->module, v->unicode);
		}
		if (e->kernel_fault.count > 1)
			buf_printf(b, ", %" PRIu64 " times", (uint64_t)e->kernel_fault.count);
		break;
	case RECORD_SLOW_FAULTS:
		put_slow(b, v, &e->slow);
		break;
	case RECORD_OOM:
		buf_printf(b, "OOM-killed: the memory of %s is full",
			   e->oom.constraint == OOM_MEMCG ? "its cgroup" : "the machine");
		break;
	}
}

/*
 * Returns whether a later event replaces an event. The totals in a record of slow faults include
 * those of earlier records of the same row.
 */
static bool is_shown_below(const struct tui *t, uint64_t i)
{
	const struct slow_faults_record *r = &t->event[i % TUI_EVENTS].slow;

	for (uint64_t k = i + 1; r->h.kind == RECORD_SLOW_FAULTS && k < t->events_shown; k++) {
		const struct slow_faults_record *later = &t->event[k % TUI_EVENTS].slow;

		if (later->h.kind == RECORD_SLOW_FAULTS && slow_is_same(later, r))
			return true;
	}
	return false;
}

void tui_write_events(const struct tui *t, const struct view *v, struct buf *b,
		      const struct subject *of, const char *title)
{
	size_t shown = 0;

	for (uint64_t i = t->events_shown; i-- > 0 && t->events_shown - i <= TUI_EVENTS;) {
		const union event *e = &t->event[i % TUI_EVENTS];
		const struct process_key *id = subject_of(e);
		bool kernel = e->h.kind == RECORD_KERNEL_FAULT || e->h.kind == RECORD_OOM;
		struct line l = {.v = v};
		struct buf text = {};

		if (of ? !same_subject(id, &of->id) : !kernel)
			continue;
		if (is_shown_below(t, i))
			continue;
		if (!shown++)
			tui_heading(b, v, title);
		if (shown > EVENTS_SHOWN)
			return;
		put_event(&text, v, e);
		line_printf(&l, " %9.1f s  ", view_seconds(v, e->h.t_ns));
		if (!of)
			line_printf(&l, "%s[%u]: ", event_comm(e), id->pid);
		line_printf(&l, "%s", text.s ? text.s : "");
		line_end(&l, b, STYLE_PLAIN);
		buf_end_part(b, &text);
	}
}

/*
 * Writes all fields in the table of fields, as JSON output does. A new field appears without a
 * change here.
 */
static void write_figures(const struct view *v, struct buf *b, const struct subject *s)
{
	const char *group = NULL;
	struct line l = {.v = v};

	tui_heading(b, v, "All values (since faultscope started watching)");
	for (size_t i = 0; i < nr_fields; i++) {
		const struct field *f = &fields[i];
		uint64_t value;
		bool known;

		if (!group || strcmp(group, f->group)) {
			if (group)
				line_end(&l, b, STYLE_PLAIN);
			line_printf(&l, " %s", f->group[0] ? f->group : "process");
			line_pad(&l, LABEL_COLUMNS);
			group = f->group;
		}
		known = field_get(v->m, s, f, &value);
		tui_put_pair(&l, b, f->key, known ? as_field_total(f, value).s : "-",
			     LABEL_COLUMNS);
	}
	line_end(&l, b, STYLE_PLAIN);
}

static void write_holders(const struct tui *t, const struct view *v, struct buf *b,
			  const struct subject *s)
{
	struct buf text = {};

	text_holders(&text, v, s);
	tui_heading(b, v, "What it holds, and which code created it");
	if (text.s)
		buf_add(b, text.s, text.len);
	else if (!s->held[WHAT_MAPS].n && !s->held[WHAT_FDS].n && t->looks)
		text_wrapped(b, v, " ", "its mappings and file descriptors could not be read");
	else
		text_wrapped(b, v, " ", "nothing notable");
	if (!s->grew[WHAT_MAPS] && !s->grew[WHAT_FDS] && model_watches_all(v->m))
		text_wrapped(b, v, " ",
			     "user stacks and fault latency are recorded only for selected "
			     "processes: faultscope -p PID");
	buf_end_part(b, &text);
}

/* Writes a line per open finding of a process; key d shows details. */
static void write_found(const struct view *v, struct buf *b, const struct subject *s)
{
	for (int severity = NR_SEVERITIES - 1; severity >= 0; severity--)
		for (size_t i = 0; i < v->findings->n; i++) {
			const struct finding *f = &v->findings->f[i];

			if ((int)f->severity != severity || !f->open ||
			    !same_subject(&f->subject, &s->id))
				continue;
			styled_line(b, v, severity_style(f->severity), " %s[%s %s]: %s",
				    severity_name(f->severity), f->rule->id,
				    diagnosis_slug(f->rule->id), f->title);
		}
}

/* Writes that a process is neither there nor among the latest ended processes. */
static void write_gone(const struct tui *t, struct buf *b)
{
	buf_printf(b, "process %u is not there at this time\n", t->chosen.pid);
}

/* Writes a line per finding of a process that has cleared. */
static void write_cleared(const struct tui *t, const struct view *v, struct buf *b,
			  const struct subject *s)
{
	for (size_t i = t->cleared.n; i-- > 0;) {
		const struct finding *f = &t->cleared.f[i];

		if (!same_subject(&f->subject, &s->id) || tui_is_open(v, f))
			continue;
		styled_line(b, v, STYLE_DIM, " %s[%s %s]: %s (cleared; from %s to %s)",
			    severity_name(f->worst), f->rule->id, diagnosis_slug(f->rule->id),
			    f->title, as_span(view_seconds(v, f->since_ns)).s,
			    as_span(view_seconds(v, f->seen_ns)).s);
	}
}

/* Writes when a process ended, and its values at the scan before: its memory is freed by now. */
static void write_end(const struct view *v, struct buf *b, const struct subject *s)
{
	const struct gauges *g = &subject_prev(s)->g;
	uint64_t page = v->m->tick.limits.page_bytes;
	struct line l = {.v = v};
	char name[24];

	line_printf(&l, " ended at %s", as_span(view_seconds(v, s->last_ns)).s);
	if (s->last_ns > s->first_ns)
		line_printf(&l, ", first seen %s before",
			    as_span((s->last_ns - s->first_ns) / 1e9).s);
	if (s->signal)
		line_printf(&l, "; its last fault raised %s",
			    signal_name(s->signal, name, sizeof(name)));
	if (subject_prev(s)->t_ns)
		line_printf(&l, "; at the scan before: RSS %s, swap %s, %s %s, %s %s",
			    as_bytes(gauges_rss_pages(g) * page).s,
			    as_bytes(gauges_swap_pages(g) * page).s, as_count(g->map_count).s,
			    as_words(g->map_count, "mapping{|s}").s, as_count(g->fds).s,
			    as_words(g->fds, "fd{|s}").s);
	line_wrap_at(&l, b, STYLE_BOLD, 2);
}

static void write_process(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct subject *s = tui_find(v, &t->chosen);

	if (!s) {
		write_gone(t, b);
		return;
	}
	write_found(v, b, s);
	write_cleared(t, v, b, s);
	if (s->final)
		write_end(v, b, s);
	tui_write_identity(b, v, s);
	write_trends(t, v, b, s);
	tui_heading(b, v, "Now");
	text_block(b, v, s);
	write_grids(v, b, s);
	write_holders(t, v, b, s);
	tui_write_events(t, v, b, s, "Events");
	write_figures(v, b, s);
}

/* Writes the findings of a process that has ended. */
static void write_last_diagnosis(const struct tui *t, const struct view *v, struct buf *b)
{
	size_t shown = 0;

	for (size_t i = t->cleared.n; i-- > 0;)
		if (same_subject(&t->cleared.f[i].subject, &t->chosen)) {
			shown++;
			text_finding(b, v, &t->cleared.f[i]);
		}
	if (!shown)
		text_wrapped(b, v, " ",
			     "the process has ended; no finding about it opened or was kept");
}

static void write_diagnosis(const struct tui *t, const struct view *v, struct buf *b)
{
	struct view one = *v;

	one.only = &t->chosen;
	if (model_find(v->m, &t->chosen))
		diagnosis_renderer.close(b, &one);
	else if (tui_find(v, &t->chosen))
		write_last_diagnosis(t, v, b);
	else
		write_gone(t, b);
}

static void write_memory(const struct tui *t, const struct view *v, struct buf *b)
{
	struct view one = *v;

	one.only = &t->chosen;
	if (model_resident(v->m, &t->chosen))
		text_memory(b, &one);
	else if (!tui_find(v, &t->chosen))
		write_gone(t, b);
	else
		text_wrapped(b, v, " ",
			     "the memory of this process was not read: start faultscope with "
			     "--resident, or see faultscope memory -p PID");
}

const struct finding *tui_chosen_finding(const struct tui *t, const struct view *v)
{
	const struct finding *f = tui_find_in(v->findings, t->chosen_rule, &t->chosen);

	return f ? f : tui_find_in(&t->cleared, t->chosen_rule, &t->chosen);
}

static void write_finding(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct finding *f = tui_chosen_finding(t, v);
	const struct diagnosis *d = f ? diagnosis_find(f->rule->id) : NULL;

	if (!f) {
		buf_puts(b, "there is no such finding at this time\n");
		return;
	}
	if (!f->open)
		styled_line(b, v, STYLE_BOLD, "cleared: it was open from %s to %s",
			    as_span(view_seconds(v, f->since_ns)).s,
			    as_span(view_seconds(v, f->seen_ns)).s);
	text_finding(b, v, f);
	if (!d)
		return;
	buf_putc(b, '\n');
	explain_text(b, v, d);
}

static void tui_page(const struct tui *t, const struct view *v, struct buf *b)
{
	switch (t->where) {
	case TUI_PROCESS:
		write_process(t, v, b);
		break;
	case TUI_MEMORY:
		write_memory(t, v, b);
		break;
	case TUI_DIAGNOSIS:
		write_diagnosis(t, v, b);
		break;
	case TUI_FINDING:
		write_finding(t, v, b);
		break;
	case TUI_HELP:
		tui_write_help(t, v, b);
		break;
	case TUI_COMMANDS:
		tui_write_commands(t, v, b);
		break;
	case TUI_COLUMNS: /* tui_draw_columns() draws it */
	case TUI_TABLE:
		tui_write_kernel(t, v, b);
		break;
	}
}

static size_t count_lines(const char *s, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += s[i] == '\n';
	return n;
}

void fill_lines(struct buf *b, size_t from, size_t height)
{
	for (size_t n = count_lines(b->s, from, b->len); n < height; n++)
		buf_putc(b, '\n');
}

/* Wraps lines that are wider than the screen, such as commands, which text outputs do not wrap. */
static void fit_page(const struct view *v, const struct buf *page, struct buf *ret)
{
	const char *end;

	for (const char *at = page->s ? page->s : ""; (end = strchr(at, '\n')); at = end + 1) {
		struct line l = {.v = v};

		buf_add(&l.b, at, end - at);
		if (end > at)
			line_wrap_at(&l, ret, STYLE_PLAIN, 8);
		else
			buf_putc(ret, '\n');
		buf_free(&l.b);
	}
}

void tui_draw_page(struct tui *t, const struct view *v, struct buf *b, size_t height)
{
	struct buf text = {}, page = {};
	size_t from = b->len, nth = 0;
	const char *at, *end;

	tui_page(t, v, &text);
	if (t->where == TUI_COMMANDS) /* wrapping would indent commands */
		buf_add(&page, text.s ? text.s : "", text.len);
	else
		fit_page(v, &text, &page);
	t->lines = count_lines(page.s, 0, page.len);
	if (t->scroll + height > t->lines)
		t->scroll = t->lines > height ? t->lines - height : 0;
	for (at = page.s ? page.s : ""; (end = strchr(at, '\n')); at = end + 1, nth++)
		if (nth >= t->scroll && nth < t->scroll + height)
			buf_add(b, at, end + 1 - at);
	buf_end_part(b, &text);
	buf_end_part(b, &page);
	fill_lines(b, from, height);
}

size_t tui_findings(const struct view *v, const struct finding **ret, size_t room)
{
	size_t n = 0;

	for (int severity = NR_SEVERITIES - 1; severity >= (int)v->min_severity; severity--)
		for (size_t i = 0; i < nr_rules; i++)
			for (size_t k = 0; k < v->findings->n; k++) {
				const struct finding *f = &v->findings->f[k];

				if (f->rule != &rules[i] || (int)f->severity != severity ||
				    !f->open)
					continue;
				if (n < room)
					ret[n] = f;
				n++;
			}
	return n;
}

/* Removes findings that do not match the filter. Returns the number of findings that remain. */
static size_t keep_matching(const struct tui *t, const struct finding **f, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (tui_finding_matches(f[i], t->filter))
			f[kept++] = f[i];
	return kept;
}

size_t tui_place_finding(struct tui *t, const struct view *v, const struct finding **ret)
{
	size_t n = tui_findings(v, ret, FINDINGS_MAX);

	n = n < FINDINGS_MAX ? n : FINDINGS_MAX;
	for (size_t i = t->ended ? t->cleared.n : 0; i-- > 0;)
		if (!tui_is_open(v, &t->cleared.f[i]) && t->cleared.f[i].worst >= v->min_severity)
			ret[n++] = &t->cleared.f[i];
	n = keep_matching(t, ret, n);
	for (size_t i = 0; t->follows && i < n; i++)
		if (ret[i] == tui_chosen_finding(t, v))
			t->at = i;
	tui_choose_finding(t, ret, n, t->at);
	return n;
}

void tui_choose_finding(struct tui *t, const struct finding *const *f, size_t n, size_t at)
{
	t->at = at < n ? at : n ? n - 1 : 0;
	t->chosen = n ? f[t->at]->subject : (struct process_key){};
	t->chosen_rule = n ? f[t->at]->rule : NULL;
}

/* Appends how long ago a time is, in a cell. */
static void put_age(struct line *l, const struct view *v, uint64_t t_ns)
{
	char age[48];

	snprintf(age, sizeof(age), "%s ago",
		 as_span(v->m->last_ns > t_ns ? (v->m->last_ns - t_ns) / 1e9 : 0).s);
	line_cell(l, age, 11, true);
	line_printf(l, "  ");
}

static void write_listed(const struct view *v, struct buf *b, const struct finding *f,
			 bool selected)
{
	struct line l = {.v = v, .flat = selected};
	char who[WHO_BYTES];
	struct buf safe = {};

	line_style(&l, f->open ? severity_style(f->severity) : STYLE_DIM);
	line_cell(&l, f->open ? severity_name(f->severity) : "cleared", 9, false);
	line_cell(&l, f->rule->id, 5, false);
	line_style(&l, STYLE_PLAIN);
	put_age(&l, v, f->open ? f->since_ns : f->seen_ns);
	finding_who(f, who, sizeof(who));
	buf_safe(&safe, who, v->unicode);
	line_cell(&l, safe.s ? safe.s : "", 22, false);
	buf_end_part(b, &safe);
	line_printf(&l, " %s", f->title);
	line_end(&l, b, selected ? STYLE_SELECTED : STYLE_PLAIN);
}

void tui_draw_findings(struct tui *t, const struct view *v, struct buf *b, size_t height)
{
	const struct finding *f[TUI_LISTED];
	size_t n = tui_place_finding(t, v, f), from = b->len, rows = height - 1;
	struct buf gaps = {};

	styled_line(b, v, STYLE_DIM, "%-9s%-5s%11s  %-22s %s", "SEVERITY", "ID", "SINCE", "PROCESS",
		    "FINDING");
	if (!n && t->filter[0]) {
		text_wrapped(b, v, "  ", "no finding matches the filter (/)");
		fill_lines(b, from, height);
		return;
	}
	if (!n) {
		gaps_of(&gaps, v);
		text_wrapped(b, v, "  ",
			     has_gaps(&gaps) ? "nothing found in what was checked"
					     : "nothing found: no limit is near, no call failed, "
					       "nothing crashed");
		gaps_text(b, v, &gaps);
		buf_free(&gaps);
		fill_lines(b, from, height);
		return;
	}
	if (t->at < t->top)
		t->top = t->at;
	if (rows && t->at >= t->top + rows)
		t->top = t->at - rows + 1;
	for (size_t i = t->top; i < n && i < t->top + rows; i++)
		write_listed(v, b, f[i], i == t->at);
	fill_lines(b, from, height);
}
