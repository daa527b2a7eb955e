// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes what happened, in the order of time: findings that opened and closed, kills, signals. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/html/html.h"
#include "rules/cause.h"
#include "rules/diagnoses.h"
#include "rules/fault.h"

#define ROWS_SHOWN    400
#define FRAMES_SHOWN  8
#define CRASHES_SHOWN 8

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

/* An event, or a change of a finding. */
struct happening {
	uint64_t t_ns, last_ns;
	const union event *event; /* NULL: a change of a finding */
	const struct finding_life *life;
	const struct finding_change *change;
	size_t times; /* number of equal events that follow one another, in one row */
};

static int by_time(const void *a, const void *b)
{
	const struct happening *x = a, *y = b;

	return x->t_ns < y->t_ns ? -1 : x->t_ns > y->t_ns;
}

/* Returns whether two events that follow one another need only one row. */
static bool is_equal(const struct happening *x, const struct happening *y)
{
	const union event *a = x->event, *b = y->event;

	if (!a || !b || a->h.kind != b->h.kind)
		return false;
	if (a->h.kind == RECORD_SIGNAL)
		return a->signal.signal == b->signal.signal && a->signal.code == b->signal.code;
	if (a->h.kind == RECORD_REFUSED)
		return a->refused.call == b->refused.call && a->refused.error == b->refused.error &&
		       same_subject(&a->refused.subject, &b->refused.subject);
	return false;
}

static size_t find_changes(const struct finding_times *t, struct happening *ret)
{
	size_t n = 0;

	for (size_t i = 0; t && i < t->n; i++)
		for (size_t k = 0; k < t->life[i].n; k++) {
			const struct finding_change *c = &t->life[i].change[k];

			ret[n++] = (struct happening){.t_ns = c->t_ns,
						      .last_ns = c->t_ns,
						      .life = &t->life[i],
						      .change = c,
						      .times = 1};
		}
	return n;
}

static size_t find_all(const struct story_view *s, struct happening *ret)
{
	size_t n = find_changes(s->times, ret), kept = 0;

	for (size_t i = 0; i < s->h->events; i++) {
		uint64_t t = s->h->event[i].h.t_ns;

		ret[n++] = (struct happening){
			.t_ns = t, .last_ns = t, .event = &s->h->event[i], .times = 1};
	}
	if (n)
		qsort(ret, n, sizeof(*ret), by_time);
	for (size_t i = 0; i < n; i++)
		if (kept && is_equal(&ret[kept - 1], &ret[i])) {
			ret[kept - 1].times++;
			ret[kept - 1].last_ns = ret[i].t_ns;
		} else {
			ret[kept++] = ret[i];
		}
	return kept;
}

static void put_change(struct buf *b, const struct finding_life *l, const struct finding_change *c)
{
	html_printf(b, "<th scope=\"row\" data-is=\"subject\">%s",
		    l->place[0] ? l->place : l->comm);
	if (l->subject.pid)
		buf_printf(b, " <span class=\"dim\">%u</span>", l->subject.pid);
	else if (!l->place[0])
		buf_puts(b, "this host");
	html_printf(b, "</th><td><a data-is=\"id\" href=\"#finding-%s\">%s %s</a> ", l->rule->id,
		    l->rule->id, diagnosis_slug(l->rule->id));
	if (c->open)
		html_printf(b, "<span class=\"sev %s\">%s</span>", severity_name(c->severity),
			    severity_name(c->severity));
	else
		buf_puts(b, "<span class=\"dim\">cleared</span>");
}

/* Writes an event. Every event record has its process at the offset of crossing.subject. */
static void put_event(struct buf *b, const struct story_view *s, const union event *e)
{
	html_printf(
		b,
		"<th scope=\"row\" data-is=\"subject\">%s <span class=\"dim\">%u</span></th><td "
		"data-is=\"event:%u\">",
		event_comm(e), e->crossing.subject.pid, e->h.kind);
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
		html_printf(b, "<strong>chosen by the OOM killer</strong>, called by %s %u",
			    e->oom.by_comm, e->oom.by);
		break;
	default:
		put_kernel_fault(b, s, &e->kernel_fault);
	}
}

static void put_row(struct buf *b, const struct story_view *s, const struct happening *h)
{
	buf_printf(b, "<tr data-t=\"%.6f\"", view_seconds(s->v, h->t_ns));
	if (h->last_ns != h->t_ns)
		buf_printf(b, " data-until=\"%.6f\"", view_seconds(s->v, h->last_ns));
	if (h->life)
		buf_printf(b, " data-finding=\"%s\" data-pid=\"%u\" data-state=\"%s\"",
			   h->life->rule->id, h->life->subject.pid,
			   h->change->open ? "open" : "cleared");
	buf_puts(b, "><td class=\"n\">");
	html_time(b, s, h->event ? "event" : "change", h->t_ns);
	buf_puts(b, "</td>");
	if (h->event)
		put_event(b, s, h->event);
	else
		put_change(b, h->life, h->change);
	if (h->times > 1) {
		buf_puts(b, " <strong>and ");
		html_value(b, "repeats", h->times - 1, as_count(h->times - 1).s);
		buf_puts(b, " more such events</strong> until ");
		html_time(b, s, "event", h->last_ns);
	}
	buf_puts(b, "</td></tr>\n");
}

static void put_table(struct buf *b, const struct story_view *s, const struct happening *h,
		      size_t n)
{
	buf_puts(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of "
		    "events\"><table id=\"event-table\"><thead><tr><th scope=\"col\" "
		    "class=\"n\">at</th><th scope=\"col\">process</th><th scope=\"col\">what</th>"
		    "</tr></thead><tbody>\n");
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++)
		put_row(b, s, &h[i]);
	buf_puts(b, "</tbody></table></div>\n");
	if (n > ROWS_SHOWN) {
		buf_puts(b, "<p class=\"note\">");
		html_value(b, "left:events", n - ROWS_SHOWN, as_count(n - ROWS_SHOWN).s);
		buf_puts(b, " rows after ");
		html_time(b, s, "event", h[ROWS_SHOWN - 1].t_ns);
		buf_puts(b, " are left out.</p>\n");
	}
	if (s->h->events_lost)
		html_note(b, "lost:events", s->h->events_lost, " later events are left out.");
}

/* Returns whether a process ended by the signal of an event: the last one that it got. */
static bool is_crash(const struct story_view *s, size_t nth)
{
	const union event *e = &s->h->event[nth];
	const struct history_row *r =
		e->h.kind == RECORD_SIGNAL ? history_find(s->h, &e->signal.subject) : NULL;

	if (!r || !r->final || r->signal != e->signal.signal)
		return false;
	for (size_t i = nth + 1; i < s->h->events; i++) {
		const union event *later = &s->h->event[i];

		if (later->h.kind == RECORD_SIGNAL &&
		    same_subject(&later->signal.subject, &e->signal.subject))
			return false;
	}
	return true;
}

size_t html_crashes(struct buf *b, const struct story_view *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->h->events; i++) {
		const struct signal_record *r = &s->h->event[i].signal;

		if (!is_crash(s, i) || n++ >= CRASHES_SHOWN)
			continue;
		if (n == 1)
			buf_puts(b, "<h3>Crashed</h3><ol class=\"next\" id=\"crashed\">\n");
		html_printf(b,
			    "<li data-t=\"%.6f\"><strong><span data-is=\"process\" "
			    "data-pid=\"%u\">%s[%u]</span></strong> at ",
			    view_seconds(s->v, r->h.t_ns), r->subject.pid, r->comm, r->subject.pid);
		html_time(b, s, "event", r->h.t_ns);
		buf_printf(b, ": <span data-is=\"event:%u\">", RECORD_SIGNAL);
		put_signal(b, s, r);
		buf_puts(b, "</span></li>\n");
	}
	if (n)
		buf_puts(b, "</ol>\n");
	if (n > CRASHES_SHOWN)
		html_note(b, "left:crashes", n - CRASHES_SHOWN,
			  " more are in <a href=\"#events\">What happened</a>.");
	return n;
}

void html_events(struct buf *b, const struct story_view *s)
{
	size_t lives = s->times ? s->times->n : 0, n;
	size_t room = s->h->events + lives * FINDING_CHANGES_MAX + 1;
	struct happening *h = buf_needs(b, calloc(room, sizeof(*h)));

	n = h ? find_all(s, h) : 0;
	html_section(b, "events", "What happened",
		     "Findings that opened, changed and cleared, failed calls, signals and kills, "
		     "in the order of time. A selected range of the timeline shows only its part.");
	if (n)
		put_table(b, s, h, n);
	else
		buf_puts(b, "<p class=\"note\">Nothing: no finding opened, no call failed at a "
			    "limit, no fault signal was sent, nobody was killed.</p>\n");
	html_section_end(b);
	free(h);
}
