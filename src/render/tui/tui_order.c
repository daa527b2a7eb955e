// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The order of the rows in the live view's tables. Unless the user sorts by a column, processes
 * with findings come first, and processes that have ended come last.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/text/text.h"
#include "render/tui/tui_parts.h"

static int by_process(const void *a, const void *b)
{
	const struct ranked_finding *x = a, *y = b;

	if (x->of.pid != y->of.pid)
		return x->of.pid < y->of.pid ? -1 : 1;
	if (x->of.start_ns != y->of.start_ns)
		return x->of.start_ns < y->of.start_ns ? -1 : 1;
	return y->severity - x->severity;
}

/* Returns whether a process with this finding comes before those without a finding. */
static bool is_urgent(const struct view *v, const struct finding *f)
{
	if (!f->open || f->severity < v->min_severity || !finding_has_process(f))
		return false;
	return f->severity > SEVERITY_INFO || f->forecast.known;
}

int ranking_make(struct ranking *r, const struct tui *t, const struct view *v)
{
	struct columns c;

	*r = (struct ranking){};
	tui_columns(t, v, &c);
	if (tui_sorted_by(t, &c) >= 0 || t->ended)
		return 0;
	/* overflow is impossible: there are at most FINDINGS_MAX findings */
	r->f = calloc(v->findings->n + 1, sizeof(*r->f));
	if (!r->f)
		return -ENOMEM;
	for (size_t i = 0; i < v->findings->n; i++) {
		const struct finding *f = &v->findings->f[i];

		if (is_urgent(v, f))
			r->f[r->n++] = (struct ranked_finding){
				.of = f->subject,
				.severity = 1 + f->severity,
				.left = f->forecast.known ? f->forecast.seconds : INFINITY,
			};
	}
	qsort(r->f, r->n, sizeof(*r->f), by_process);
	return 0;
}

void ranking_free(struct ranking *r)
{
	free(r->f);
	*r = (struct ranking){};
}

/* Returns the seconds until a process reaches one of its limits; INFINITY: not known. */
static double time_left(const struct view *v, const struct subject *s)
{
	double left = INFINITY;
	struct use u;

	for (int i = 0; i < NR_RESOURCES; i++) {
		struct forecast f;

		if (resources[i].scope == OF_HOST || !resource_use(v->m, s, i, &u) ||
		    !use_is_bounded(&u))
			continue;
		if (u.value >= u.limit)
			return 0;
		f = resource_forecast(v->m, s, i);
		if (f.known && f.seconds < left)
			left = f.seconds;
	}
	return left;
}

/* Returns the value of a process in the order of a tab. */
static double own_value(const struct tab *tab, const struct view *v, const struct subject *s)
{
	uint64_t n;

	if (tab->near >= 0)
		return tui_share(v, s, tab->near);
	if (tab->by)
		return field_get(v->m, s, field_find(tab->by), &n) ? (double)n : -1;
	return text_activity(v, s);
}

struct rank tui_rank(const struct ranking *r, const struct tui *t, const struct view *v,
		     const struct columns *c, const struct subject *s)
{
	struct rank ret = {.left = INFINITY};
	struct ranked_finding key = {.of = s->id, .severity = NR_SEVERITIES + 1}, *f = r->f;
	size_t from = 0, to = r->n;
	int sort = tui_sorted_by(t, c);

	if (sort >= 0) {
		ret.value = tui_value(v, s, &c->c[sort]);
		return ret;
	}
	if (t->ended) { /* the latest first */
		ret.value = s->last_ns;
		return ret;
	}
	ret.value = own_value(&tui_tabs[t->tab], v, s);
	ret.ended = s->final;
	while (from < to) {
		size_t middle = (from + to) / 2;

		if (by_process(&f[middle], &key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (size_t i = from; i < r->n && same_subject(&f[i].of, &s->id); i++) {
		if (f[i].severity > ret.severity)
			ret.severity = f[i].severity;
		if (f[i].left < ret.left)
			ret.left = f[i].left;
	}
	if (ret.severity)
		ret.left = fmin(ret.left, time_left(v, s));
	return ret;
}

int rank_compare(const struct rank *a, const struct rank *b, bool inverted)
{
	int sign = inverted ? -1 : 1;

	if (a->severity != b->severity)
		return sign * (b->severity - a->severity);
	if (a->ended != b->ended)
		return sign * (a->ended ? 1 : -1);
	if (a->left != b->left)
		return sign * (a->left < b->left ? -1 : 1);
	if (a->value != b->value)
		return sign * (a->value < b->value ? 1 : -1);
	return 0;
}

int tui_sorted_by(const struct tui *t, const struct columns *c)
{
	const struct tui_sort *sort = &t->sort[t->tab];

	for (size_t i = 0; sort->chosen && i < c->n; i++)
		if (c->c[i].cell == sort->cell && c->c[i].f == sort->f)
			return i;
	return -1;
}

bool tui_is_sort_column(const struct tui *t, const struct columns *c, size_t i)
{
	const struct tab *tab = &tui_tabs[t->tab];
	const struct column *one = &c->c[i];
	int sort = tui_sorted_by(t, c);

	if (sort >= 0)
		return sort == (int)i;
	if (t->ended)
		return false;
	if (tab->near >= 0)
		return one->cell == CELL_BAR && one->of == (enum resource_id)tab->near;
	return one->cell == CELL_FIELD &&
	       one->f == (tab->by ? field_find(tab->by) : FIELD(min_flt));
}

void tui_put_order(struct buf *b, const struct tui *t, const struct view *v)
{
	const struct tab *tab = &tui_tabs[t->tab];
	struct columns c;
	char title[32];
	int i;

	tui_columns(t, v, &c);
	i = tui_sorted_by(t, &c);
	if (i >= 0)
		buf_puts(b, c.c[i].title);
	else if (t->ended)
		buf_puts(b, "time of end");
	else if (tab->near >= 0)
		buf_printf(b, "findings, then use of %s", resources[tab->near].limit);
	else if (tab->by)
		buf_printf(b, "findings, then %s",
			   field_column_title(field_find(tab->by), title, sizeof(title)));
	else
		buf_puts(b, "findings, then faults");
	if (t->inverted)
		buf_puts(b, ", reversed");
}
