// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/style.h"
#include "render/text/text.h"

/* A column of the process table. On narrow screens, the last columns are omitted first. */
struct column {
	const struct field *f;
	const struct field_column *c;
};

#define PID_COLUMNS  8
#define COMM_COLUMNS 16

struct ranked {
	const struct subject *s;
	double rank;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->s->id.pid < y->s->id.pid ? -1 : x->s->id.pid > y->s->id.pid;
}

struct number_text as_field_total(const struct field *f, uint64_t n)
{
	switch (f->unit) {
	case UNIT_NS:
		return as_duration(n);
	case UNIT_BYTES:
		return as_bytes(n);
	case UNIT_LIMIT:
		return as_limit(n);
	default:
		return as_count(n);
	}
}

struct number_text as_field_figure(const struct field *f, double n)
{
	if (f->type == FIELD_COUNTER && f->unit == UNIT_COUNT)
		return as_rate(n);
	return as_field_total(f, count_of_real(n));
}

double text_activity(const struct view *v, const struct subject *s)
{
	double rank = 0;
	struct use u;

	if (subject_changed(v->m, s))
		rank = field_delta(v->m, s, FIELD(min_flt)) +
		       100.0 * field_delta(v->m, s, FIELD(maj_flt));
	for (int i = 0; i < NR_RESOURCES; i++)
		if (resources[i].scope != OF_HOST && resource_use(v->m, s, i, &u) &&
		    use_is_bounded(&u))
			rank += (double)u.value / u.limit;
	return rank;
}

static double rank_of(const struct view *v, const struct subject *s)
{
	uint64_t n = 0;

	if (!v->sort)
		return text_activity(v, s);
	if (v->sort->type == FIELD_COUNTER)
		return field_delta(v->m, s, v->sort);
	return field_get(v->m, s, v->sort, &n) ? (double)n : -1;
}

const struct subject **text_sorted(const struct view *v, size_t *ret_n)
{
	struct ranked *r = calloc(v->m->subjects + 1, sizeof(*r));
	const struct subject **sorted = calloc(v->m->subjects + 1, sizeof(*sorted));
	size_t n = 0;

	for (const struct subject *s = model_each(v->m, NULL); s && r && sorted;
	     s = model_each(v->m, s))
		if (!s->hidden) {
			r[n].s = s;
			r[n++].rank = rank_of(v, s);
		}
	if (n)
		qsort(r, n, sizeof(*r), by_rank);
	for (size_t i = 0; i < n; i++)
		sorted[i] = r[i].s;
	if (!r) {
		free(sorted);
		sorted = NULL;
	}
	free(r);
	*ret_n = n;
	return sorted;
}

/* Finds the column at position `nth` of the table, from 1. Returns false if `nth` is too large. */
static bool column_at(int nth, struct column *ret)
{
	for (size_t i = 0; i < nr_fields; i++) {
		ret->f = &fields[i];
		ret->c = fields[i].table.nth == nth ? &fields[i].table : &fields[i].share;
		if (ret->c->nth == nth)
			return true;
	}
	return false;
}

/*
 * Finds the next column that fits and has values. Start with *nth = 0. Returns false after the last
 * column.
 */
static bool next_column(const struct view *v, int *nth, int *room, struct column *ret)
{
	if (!*nth)
		*room = v->width - PID_COLUMNS - COMM_COLUMNS - 1;
	while (column_at(++*nth, ret)) {
		*room -= ret->c->width + 1;
		if (*room >= 0 && is_available(v->m, ret->f->hook, ret->f->lacks))
			return true;
	}
	return false;
}

static void put_cell(struct buf *b, const struct view *v, const struct subject *s,
		     const struct column *c)
{
	double seconds = model_window_seconds(v->m);
	const struct field *f = c->f;
	uint64_t n, limit;

	if (!field_get(v->m, s, f, &n))
		buf_putc(b, '-');
	else if (c->c->of && (!field_get(v->m, s, field_find(c->c->of), &limit) || !limit ||
			      limit == UINT64_MAX))
		buf_putc(b, '-');
	else if (c->c->of)
		buf_printf(b, "%.1f", 100.0 * n / limit);
	else if (f->type == FIELD_COUNTER && f->unit == UNIT_NS)
		put_duration(b, seconds > 0 ? count_of_real(field_delta(v->m, s, f) / seconds) : 0);
	else if (f->type == FIELD_COUNTER)
		put_rate(b, seconds > 0 ? field_delta(v->m, s, f) / seconds : 0);
	else if (f->unit == UNIT_BYTES)
		put_bytes(b, n);
	else
		put_count(b, n);
}

static void write_row(struct buf *b, const struct view *v, const struct subject *s)
{
	struct line l = {.v = v};
	struct buf cell = {}, comm = {};
	int nth = 0, room;
	struct column c;

	line_printf(&l, "%*u ", PID_COLUMNS - 1, s->id.pid);
	while (next_column(v, &nth, &room, &c)) {
		buf_end_part(b, &cell);
		put_cell(&cell, v, s, &c);
		line_printf(&l, "%*s ", c.c->width, cell.s ? cell.s : "");
	}
	buf_safe(&comm, s->now.g.comm, v->unicode);
	line_printf(&l, "%s%s%s", comm.s ? comm.s : "", s->final ? " (ended)" : "",
		    s->now.g.flags & PROC_SHARES_MM ? " (vfork)" : "");
	line_end(&l, b, STYLE_PLAIN);
	buf_end_part(b, &cell);
	buf_end_part(b, &comm);
}

void text_table(struct buf *b, const struct view *v)
{
	struct line l = {.v = v};
	const struct subject **s;
	int nth = 0, room;
	struct column c;
	char title[16];
	size_t n;

	line_printf(&l, "%*s ", PID_COLUMNS - 1, "PID");
	while (next_column(v, &nth, &room, &c))
		line_printf(&l, "%*s ", c.c->width,
			    c.c->title ?: field_column_title(c.f, title, sizeof(title)));
	line_printf(&l, "COMM");
	line_end(&l, b, STYLE_DIM);
	s = buf_needs(b, text_sorted(v, &n));
	for (size_t i = 0; s && i < n && i < v->top; i++)
		write_row(b, v, s[i]);
	if (n > v->top && !v->height) {
		styled_line(b, v, STYLE_DIM, "%*s %zu more (--top N)", PID_COLUMNS - 1, "...",
			    n - v->top);
	}
	free(s);
}
