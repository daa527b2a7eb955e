// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes the verdict: one card for each cause. A card has the gravest finding about the cause, the
 * states that led to it or went with it, and the other processes of which the same was found.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/completeness.h"
#include "render/html/html.h"
#include "rules/diagnoses.h"

#define CARDS_SHOWN 16
#define ALIKE_SHOWN 100 /* maximum number of findings in the table of a card */
#define CLOSE_SHOWN 12	/* maximum number of related findings of a card */

static void put_severity(struct buf *b, enum severity s)
{
	static const char *const mark[NR_SEVERITIES] = {"i", "!", "\xe2\x9c\x95"};

	buf_printf(b, "<span class=\"sev %s\"><span aria-hidden=\"true\">%s</span> %s</span>",
		   severity_name(s), mark[s], severity_name(s));
}

/* A finding, and the card that it belongs to. */
struct entry {
	const struct finding *f;
	size_t card;  /* index of the entry whose card shows the finding; its own index: it has a
			 card */
	bool related; /* true: listed as related; false: the same rule found it elsewhere */
};

static void put_attributes(struct buf *b, const struct story_view *s, const struct finding *f)
{
	buf_printf(b, " data-finding=\"%s\" data-pid=\"%u\" data-since=\"%.6f\"", f->rule->id,
		   f->subject.pid, view_seconds(s->v, f->since_ns));
	if (f->place[0])
		html_printf(b, " data-place=\"%s\"", f->place);
}

static void put_all_evidence(struct buf *b, const struct finding *f)
{
	if (!f->nr_evidence)
		return;
	buf_puts(b, "<dl class=\"evidence\">");
	for (size_t i = 0; i < f->nr_evidence; i++) {
		struct buf value = {};

		evidence_put(&value, &f->evidence[i]);
		html_printf(b, "<div data-is=\"evidence:%zu\"><dt>%s</dt><dd>%s</dd></div>", i,
			    f->evidence[i].field, value.s ? value.s : "");
		buf_end_part(b, &value);
	}
	buf_puts(b, "</dl>");
}

static void put_forecast(struct buf *b, const struct story_view *s, const struct finding *f)
{
	const struct forecast *c = &f->forecast;

	if (!c->known || !f->open)
		return;
	buf_puts(b, "<p class=\"note\">Full at about <strong>");
	html_time(b, s, "forecast", f->seen_ns + count_of_real(c->seconds * 1e9));
	buf_puts(b, "</strong>: in ");
	html_value(b, "forecast:seconds", c->seconds, as_span(c->seconds).s);
	buf_puts(b, " (");
	html_value(b, "forecast:low", c->low, as_span(c->low).s);
	buf_puts(b, " to ");
	html_value(b, "forecast:high", c->high, as_span(c->high).s);
	buf_puts(b, ") from the last scan, <a href=\"#gauges\">at this rate</a>.</p>");
}

static bool is_earlier(const struct finding_life *l, const struct finding *f)
{
	return l->rule == f->rule && same_subject(&l->subject, &f->subject) &&
	       l->since_ns < f->since_ns && l->n;
}

/* Writes when the same was found before, because it cleared and came again. */
static void put_earlier(struct buf *b, const struct story_view *s, const struct finding *f)
{
	size_t n = 0;

	for (size_t i = 0; s->times && i < s->times->n; i++) {
		const struct finding_life *l = &s->times->life[i];

		if (!is_earlier(l, f))
			continue;
		buf_puts(b, n++ ? "; " : "; earlier: ");
		html_time(b, s, "since", l->since_ns);
		buf_puts(b, " to ");
		html_time(b, s, "change", l->change[l->n - 1].t_ns);
	}
}

/* Writes when a finding opened, changed its severity, and closed. */
static void put_times(struct buf *b, const struct story_view *s, const struct finding *f)
{
	const struct finding_life *l = s->times ? finding_times_of(s->times, f) : NULL;

	buf_puts(b, "<p class=\"times\">");
	buf_puts(b, rule_is_state(f->rule) ? "since " : "at ");
	html_time(b, s, "since", f->since_ns);
	for (size_t i = 0; l && i < l->n; i++) {
		const struct finding_change *c = &l->change[i];

		if (!i && l->n > 1 && l->change[1].open)
			buf_printf(b, ", %s", severity_name(c->severity));
		if (!i)
			continue;
		buf_printf(b, ", %s ", c->open ? severity_name(c->severity) : "cleared at");
		html_time(b, s, "change", c->t_ns);
	}
	if (f->open)
		buf_puts(b, rule_is_state(f->rule) ? ", still so at the end" : "");
	put_earlier(b, s, f);
	buf_puts(b, "</p>");
}

static void put_because(struct buf *b, const struct finding *f)
{
	for (size_t i = 0; i < f->nr_because; i++) {
		const struct diagnosis *d = diagnosis_find(f->because[i]->id);

		buf_printf(b,
			   "<p class=\"note\" data-is=\"because\">Because of <a "
			   "href=\"#finding-%s\">%s %s</a>",
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
	buf_puts(b, "<ul class=\"remedy\" data-is=\"remedies\">");
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

static void put_title(struct buf *b, const struct finding *f)
{
	put_severity(b, f->worst);
	buf_printf(b, " <span class=\"id\" data-is=\"id\">%s %s</span> <span data-is=\"title\">",
		   f->rule->id, diagnosis_slug(f->rule->id));
	if (f->rule->trigger != ON_HOST) {
		char who[WHO_BYTES];

		finding_who(f, who, sizeof(who));
		html_printf(b, "%s: ", who);
	}
	html_printf(b, "%s</span>", f->title);
}

/* Writes an entry of a list below a card. */
static void put_line(struct buf *b, const struct story_view *s, const struct finding *f,
		     bool anchor)
{
	buf_puts(b, "<li");
	put_attributes(b, s, f);
	if (anchor)
		buf_printf(b, " id=\"finding-%s\"", f->rule->id);
	buf_puts(b, ">");
	put_title(b, f);
	put_times(b, s, f);
	buf_puts(b, "</li>\n");
}

static size_t count_of_card(const struct entry *e, size_t n, size_t card, bool related)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += i != card && e[i].card == card && e[i].related == related;
	return found;
}

static bool is_anchor(const struct entry *e, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (e[k].f->rule == e[i].f->rule)
			return false;
	return true;
}

/* Writes the findings of a card besides its own, at most `most`, then how many more there are. */
static void put_list(struct buf *b, const struct story_view *s, const struct entry *e, size_t n,
		     size_t card, bool related, size_t most)
{
	size_t all = count_of_card(e, n, card, related), shown = 0;

	buf_puts(b, "<ul class=\"close\">\n");
	for (size_t i = 0; i < n && shown < most; i++)
		if (i != card && e[i].card == card && e[i].related == related) {
			put_line(b, s, e[i].f, is_anchor(e, i));
			shown++;
		}
	buf_puts(b, "</ul>");
	if (all > shown) {
		buf_puts(b, "<p class=\"note\">");
		html_value(b, "left:findings", all - shown, as_count(all - shown).s);
		buf_puts(b, " more are in the output of <code>faultscope report --format "
			    "jsonl</code>.</p>");
	}
}

static void put_card(struct buf *b, const struct story_view *s, const struct entry *e, size_t n,
		     size_t card)
{
	const struct finding *f = e[card].f;
	size_t related = count_of_card(e, n, card, true), alike = count_of_card(e, n, card, false);

	buf_printf(b, "<article class=\"finding %s\"", severity_name(f->worst));
	put_attributes(b, s, f);
	if (is_anchor(e, card))
		buf_printf(b, " id=\"finding-%s\"", f->rule->id);
	buf_puts(b, "><h3>");
	put_title(b, f);
	buf_puts(b, "</h3>");
	put_times(b, s, f);
	put_all_evidence(b, f);
	put_because(b, f);
	put_forecast(b, s, f);
	if (f->set_by[0])
		html_printf(b, "<p class=\"note\" data-is=\"set_by\">The limit is set by %s</p>",
			    f->set_by);
	put_remedies(b, f);
	if (related) {
		buf_puts(b, "<h4>About the same limit</h4>");
		put_list(b, s, e, n, card, true, CLOSE_SHOWN);
	}
	if (alike) {
		buf_puts(b, "<details><summary>");
		html_value(b, "alike", alike, as_count(alike).s);
		html_printf(b, " more of <span data-is=\"id\">%s %s</span></summary>", f->rule->id,
			    diagnosis_slug(f->rule->id));
		put_list(b, s, e, n, card, false, ALIKE_SHOWN);
		buf_puts(b, "</details>");
	}
	buf_puts(b, "</article>\n");
}

static int by_gravity(const void *a, const void *b)
{
	const struct finding *x = ((const struct entry *)a)->f;
	const struct finding *y = ((const struct entry *)b)->f;

	if (x->worst != y->worst)
		return x->worst < y->worst ? 1 : -1;
	if ((x->rule->trigger == ON_OOM) != (y->rule->trigger == ON_OOM))
		return x->rule->trigger == ON_OOM ? -1 : 1;
	/* what happened comes before states */
	if (rule_is_state(x->rule) != rule_is_state(y->rule))
		return rule_is_state(x->rule) ? 1 : -1;
	if (x->open != y->open)
		return x->open ? -1 : 1;
	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

static const char *cgroup_of(const struct story_view *s, const struct finding *f)
{
	const struct history_row *r;

	if (f->rule->trigger == ON_CGROUP)
		return f->place;
	r = finding_has_process(f) ? history_find(s->h, &f->subject) : NULL;
	return r ? r->cgroup : NULL;
}

/*
 * Returns whether a finding about a state tells of the same limit as a graver finding: it has the
 * same cause, and the same process, or the cgroup of the process.
 */
static bool is_related(const struct story_view *s, const struct finding *graver,
		       const struct finding *f)
{
	const char *x = cgroup_of(s, graver), *y = cgroup_of(s, f);

	if (!rule_is_state(f->rule) || !f->cause || !graver->cause ||
	    strcmp(f->cause, graver->cause))
		return false;
	if (finding_has_process(f) && same_subject(&f->subject, &graver->subject))
		return true;
	return !strcmp(f->cause, "cgroup_memory") && x && y &&
	       (cgroup_is_within(x, y) || cgroup_is_within(y, x));
}

/* Finds the card of each finding. Returns the number of cards. */
static size_t group(const struct story_view *s, struct entry *e, size_t n)
{
	size_t cards = 0;

	for (size_t i = 0; i < n; i++) {
		e[i].card = i;
		for (size_t k = 0; k < i && e[i].card == i; k++) {
			e[i].related = is_related(s, e[k].f, e[i].f);
			if (e[k].card == k && (e[i].related || (e[k].f->rule == e[i].f->rule &&
								e[k].f->worst == e[i].f->worst)))
				e[i].card = k;
		}
		cards += e[i].card == i;
	}
	return cards;
}

static void put_checked(struct buf *b, const struct story_view *s)
{
	const struct model *m = s->v->m;
	bool blind = false;

	buf_puts(b, "<p class=\"note\" data-is=\"words\">Checked: limits of mappings, file "
		    "descriptors, locked "
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
	html_printf(b, "<p class=\"note\" data-is=\"gaps\">Incomplete: %s.</p>\n",
		    joined.s ? joined.s : "out of memory");
	buf_end_part(b, &joined);
}

/*
 * Writes that there is no finding. Says that all is well only if no process crashed, and the result
 * has no gap.
 */
static void put_no_finding(struct buf *b, const struct story_view *s, size_t crashes)
{
	struct buf gaps = {};

	gaps_of(&gaps, s->v);
	if (!s->v->findings->n && !crashes && !has_gaps(&gaps))
		buf_puts(b, "<p class=\"well\"><span aria-hidden=\"true\">\xe2\x9c\x93</span> No "
			    "findings: no checked value is near its limit, and no call failed at a "
			    "limit.</p>\n");
	else if (!s->v->findings->n && has_gaps(&gaps))
		buf_puts(b,
			 "<p>No finding in what was checked, but the result is incomplete.</p>\n");
	else if (!s->v->findings->n)
		buf_puts(b, "<p>No finding about a limit.</p>\n");
	html_gaps(b, &gaps);
	buf_free(&gaps);
}

void html_verdict(struct buf *b, const struct story_view *s, const struct gauge_list *g)
{
	const struct findings *fs = s->v->findings;
	struct entry *e = buf_needs(b, calloc(fs->n + 1, sizeof(*e)));
	size_t n = e ? fs->n : 0, cards, shown = 0;
	struct buf crashes = {};

	html_section(b, "verdict", "Verdict", NULL);
	for (size_t i = 0; i < n; i++)
		e[i].f = &fs->f[i];
	if (n)
		qsort(e, n, sizeof(*e), by_gravity);
	cards = group(s, e, n);
	put_no_finding(b, s, html_crashes(&crashes, s));
	buf_add(b, crashes.s, crashes.len);
	buf_end_part(b, &crashes);
	html_next(b, s, g);
	for (size_t i = 0; i < n && shown < CARDS_SHOWN; i++)
		if (e[i].card == i) {
			put_card(b, s, e, n, i);
			shown++;
		}
	if (cards > shown)
		html_note(b, "cards", cards - shown,
			  " less grave findings are in <a href=\"#events\">What happened</a>, and "
			  "in the data.");
	put_checked(b, s);
	html_section_end(b);
	free(e);
}
