// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/style.h"
#include "render/text/text.h"

/* Columns of the table, the last to go first where the screen is narrow. */
static const struct column {
	const char *field;
	const char *title;
	int width;
	bool share; /* of the limit field behind it, in percent */
	const char *of;
} columns[] = {
	{"faults.minor", "MINFLT/s", 9, false, NULL},
	{"faults.major", "MAJFLT/s", 8, false, NULL},
	{"maps.count", "MAPS", 7, false, NULL},
	{"fds.count", "FDS", 7, false, NULL},
	{"maps.count", "MAP%", 5, true, "maps.limit"},
	{"fds.count", "FD%", 5, true, "fds.limit"},
	{"memory.rss_bytes", "RSS", 9, false, NULL},
	{"threads", "THR", 5, false, NULL},
	{"faults.stall_ns", "STALL/s", 8, false, NULL},
};
#define NR_COLUMNS   (sizeof(columns) / sizeof(columns[0]))
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

/* A major fault as a hundred minor ones. */
double text_activity(const struct view *v, const struct subject *s)
{
	double rank = 0;
	struct use u;

	if (subject_changed(v->m, s))
		rank = field_delta(v->m, s, field_find("faults.minor")) +
		       100.0 * field_delta(v->m, s, field_find("faults.major"));
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

	for (struct subject *s = model_each(v->m, NULL); s && r && sorted; s = model_each(v->m, s))
		if (!s->hidden) {
			r[n].s = s;
			r[n++].rank = rank_of(v, s);
		}
	if (n)
		qsort(r, n, sizeof(*r), by_rank);
	for (size_t i = 0; i < n; i++)
		sorted[i] = r[i].s;
	free(r);
	*ret_n = n;
	return sorted;
}

static bool shown(const struct view *v, size_t column)
{
	int room = v->width - PID_COLUMNS - COMM_COLUMNS - 1;
	const struct field *f = field_find(columns[column].field);

	if (!is_told(v->m, f->hook, f->lacks))
		return false;
	for (size_t i = 0; i <= column; i++)
		room -= columns[i].width + 1;
	return room >= 0;
}

static void put_cell(struct buf *b, const struct view *v, const struct subject *s,
		     const struct column *c)
{
	const struct field *f = field_find(c->field);
	double seconds = model_window_seconds(v->m);
	uint64_t n, limit;

	if (!field_get(v->m, s, f, &n))
		buf_putc(b, '-');
	else if (c->share &&
		 (!field_get(v->m, s, field_find(c->of), &limit) || !limit || limit == UINT64_MAX))
		buf_putc(b, '-');
	else if (c->share)
		buf_printf(b, "%.1f", 100.0 * n / limit);
	else if (f->type == FIELD_COUNTER && f->unit == UNIT_NS)
		put_duration(b, seconds > 0 ? field_delta(v->m, s, f) / seconds : 0);
	else if (f->type == FIELD_COUNTER)
		put_rate(b, seconds > 0 ? field_delta(v->m, s, f) / seconds : 0);
	else if (f->unit == UNIT_BYTES)
		put_bytes(b, n);
	else
		put_count(b, n);
}

static void say_row(struct buf *b, const struct view *v, const struct subject *s)
{
	struct line l = {.v = v};
	struct buf cell = {}, comm = {};

	line_printf(&l, "%*u ", PID_COLUMNS - 1, s->id.pid);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!shown(v, i))
			continue;
		buf_clear(&cell);
		put_cell(&cell, v, s, &columns[i]);
		line_printf(&l, "%*s ", columns[i].width, cell.s ? cell.s : "");
	}
	buf_safe(&comm, s->now.g.comm, v->unicode);
	line_printf(&l, "%s%s%s", comm.s ? comm.s : "", s->final ? " (ended)" : "",
		    s->now.g.flags & FS_PROC_SHARES_MM ? " (vfork)" : "");
	line_end(&l, b, STYLE_PLAIN);
	buf_free(&cell);
	buf_free(&comm);
}

void text_table(struct buf *b, const struct view *v)
{
	struct line l = {.v = v};
	const struct subject **s;
	size_t n;

	line_printf(&l, "%*s ", PID_COLUMNS - 1, "PID");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (shown(v, i))
			line_printf(&l, "%*s ", columns[i].width, columns[i].title);
	line_printf(&l, "COMM");
	line_end(&l, b, STYLE_DIM);
	s = text_sorted(v, &n);
	for (size_t i = 0; s && i < n && i < v->top; i++)
		say_row(b, v, s[i]);
	if (n > v->top && !v->height) {
		l = (struct line){.v = v};
		line_printf(&l, "%*s %zu more (--top N)", PID_COLUMNS - 1, "...", n - v->top);
		line_end(&l, b, STYLE_DIM);
	}
	free(s);
}
