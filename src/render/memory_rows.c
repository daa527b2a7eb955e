// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/memory_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/frames.h"
#include "model/holdings.h"

#define LEAST_SHARE 100 /* rows below 1/100 of all memory are summed up */

struct memory_kind memory_kind(const struct resident_record *r)
{
	struct memory_kind kind;
	const char *how = r->by == RESIDENT_COPIED    ? ", copied after a fork"
			  : r->by == RESIDENT_INHERITED ? ", inherited from the parent"
							: "";

	snprintf(kind.s, sizeof(kind.s), "%s%s%.*s%s", holding_kind_name(r->kind),
		 r->file[0] ? " " : "", (int)sizeof(r->file), r->file, how);
	return kind;
}

static uint64_t total_of(const struct resident_sum_record *sum)
{
	return sum->anon_bytes + sum->file_bytes + sum->shmem_bytes + sum->swap_bytes +
	       sum->hugetlb_bytes;
}

static int order_processes(const void *a, const void *b)
{
	const struct memory_process *x = a, *y = b;

	return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->of < y->of ? -1 : 1;
}

size_t memory_processes(const struct view *v, struct memory_process ret[RESIDENT_PROCESSES_MAX])
{
	size_t n = 0;

	for (const struct resident_of *of = model_resident_each(v->m, NULL); of;
	     of = model_resident_each(v->m, of)) {
		const struct subject *s = model_find(v->m, &of->id);
		bool ended = !s || s->final;
		const struct resident_list *list = resident_shown(of, ended);

		if ((s && s->hidden) || !view_shows(v, &of->id))
			continue;
		ret[n++] = (struct memory_process){of, list, ended, total_of(&list->sum)};
	}
	qsort(ret, n, sizeof(ret[0]), order_processes);
	return n;
}

static bool belongs(const struct memory_row *row, const struct resident_record *r,
		    const struct frames *f)
{
	const struct resident_record *a = &row->sum;

	if (a->by != r->by || a->kind != r->kind || strncmp(a->file, r->file, sizeof(a->file)))
		return false;
	if (!row->f || !f)
		return !row->f && !f;
	return f->user_line[0] ? !strcmp(f->user_line, row->f->user_line)
			       : !strcmp(f->text, row->f->text);
}

/* Adds a record to a row. The errors of the estimates are independent. */
static void add_record(struct memory_row *row, const struct resident_record *r, int64_t growth)
{
	struct resident_record *sum = &row->sum;
	double below = hypot(sum->bytes - sum->low, r->bytes - r->low);
	double above = hypot(sum->high - sum->bytes, r->high - r->bytes);

	sum->bytes += r->bytes;
	sum->low = count_of_real(sum->bytes - below);
	sum->high = count_of_real(sum->bytes + above);
	sum->swapped_bytes += r->swapped_bytes;
	sum->huge_bytes += r->huge_bytes;
	row->growth += growth;
	row->records++;
}

static int order_rows(const void *a, const void *b)
{
	const struct memory_row *x = a, *y = b;
	uint64_t left = resident_bytes(&x->sum), right = resident_bytes(&y->sum);

	return left < right ? 1 : left > right ? -1 : (int)x->sum.nth - (int)y->sum.nth;
}

/* Removes the rows from number `n` on. */
static void cut_rows(struct memory_rows *rows, size_t n)
{
	for (size_t i = n; i < rows->n; i++) {
		rows->rest += resident_bytes(&rows->row[i].sum);
		rows->rest_records += rows->row[i].records;
	}
	rows->n = n;
}

static void add_row(struct memory_rows *ret, const struct resident_record *r,
		    const struct frames *f, int64_t growth)
{
	size_t at = 0;

	while (at < ret->n && !belongs(&ret->row[at], r, f))
		at++;
	if (at < ret->n) {
		add_record(&ret->row[at], r, growth);
	} else if (at < MEMORY_ROWS_MAX) {
		ret->row[ret->n++] = (struct memory_row){*r, f, growth, 1};
	} else {
		ret->rest += resident_bytes(r);
		ret->rest_records++;
	}
}

/*
 * Adds the rows of a process. `brief`: memory that was resident before the watch began is one row,
 * because each of hundreds of libraries would have another one.
 */
static void add_process(struct memory_rows *ret, const struct view *v,
			const struct memory_process *p, bool brief)
{
	const struct resident_list *base = resident_base(v->m, p->of, p->list);

	for (size_t i = 0; i < p->list->n; i++) {
		struct resident_record r = p->list->row[i];
		int64_t growth = resident_growth(base, p->list, &r);

		if (brief && r.by == RESIDENT_BEFORE) {
			r.kind = HOLDING_OTHER;
			r.file[0] = 0;
		}
		add_row(ret, &r, model_frames(v->m, &r.toucher, r.stack), growth);
	}
}

/* Sorts the rows, and removes small ones. */
static void finish(struct memory_rows *ret, uint64_t bytes, size_t most)
{
	size_t n = 0;

	qsort(ret->row, ret->n, sizeof(ret->row[0]), order_rows);
	while (n < ret->n && n < most && resident_bytes(&ret->row[n].sum) >= bytes / LEAST_SHARE)
		n++;
	cut_rows(ret, n);
}

void memory_rows_fill(struct memory_rows *ret, const struct view *v, const struct memory_process *p,
		      size_t most)
{
	memset(ret, 0, sizeof(*ret));
	add_process(ret, v, p, false);
	finish(ret, p->bytes, most);
}

void memory_rows_of_consumer(struct memory_rows *ret, const struct view *v,
			     const struct process_tree *k, const struct top_consumer *e,
			     size_t most)
{
	uint64_t bytes = 0;

	memset(ret, 0, sizeof(*ret));
	for (const struct resident_of *of = model_resident_each(v->m, NULL); of;
	     of = model_resident_each(v->m, of)) {
		const struct subject *s = model_find(v->m, &of->id);
		struct memory_process p = {of, &of->now, false, total_of(&of->now.sum)};

		if (!s || s->final || !top_consumer_has(k, e, s))
			continue;
		add_process(ret, v, &p, true);
		bytes += p.bytes;
	}
	finish(ret, bytes, most);
}

struct memory_line memory_line(const struct memory_row *row)
{
	size_t n = row->f ? frames_count(row->f) : 0, at = 0;
	struct memory_line line;
	char text[FRAME_TEXT_BYTES];

	if (!n) {
		snprintf(line.s, sizeof(line.s), "%s", resident_no_stack(row->sum.by));
		return line;
	}
	if (row->f->user_line[0]) {
		snprintf(line.s, sizeof(line.s), "%s", row->f->user_line);
		return line;
	}
	while (at < n && frames_are_library(row->f, at))
		at++;
	frames_show(row->f, at < n ? at : 0, text, sizeof(text));
	snprintf(line.s, sizeof(line.s), "%.255s", text);
	return line;
}
