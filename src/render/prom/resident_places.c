// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/prom/resident_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "model/frames.h"
#include "model/holdings.h"
#include "render/memory_rows.h"

/* Maximum number of rows of all processes that are summed up. */
#define PARTS_MAX (1u << 20)

/* What a row is, in the order of the rows of a workload. */
enum part_sort { PART_CODE, PART_UNKNOWN, PART_UNREAD };

/* A row of a process. After merge(): all rows of a workload with the same labels. */
struct part {
	uint64_t key; /* PART_CODE: hash of the labels; PART_UNKNOWN: `by` */
	uint64_t bytes;
	const struct resident_record *row; /* one of the rows; NULL: PART_UNREAD */
	uint32_t workload;		   /* index in struct sums */
	uint32_t sort;			   /* enum part_sort */
	bool kept;			   /* there was a series with these labels before */
};

struct workload_sum {
	const struct census_workload *w; /* NULL: CENSUS_OTHER */
	uint64_t bytes;
	uint32_t index;
	bool kept; /* it had rows before */
};

struct sums {
	const struct model *m;
	struct part *part; /* owned */
	size_t n, room;
	struct workload_sum workload[CENSUS_WORKLOADS_MAX + 1]; /* the first one is CENSUS_OTHER */
	size_t workloads;
};

static const char *name_of(const struct workload_sum *w)
{
	return w->w ? w->w->id.name : CENSUS_OTHER;
}

/* Returns the bytes by which rows compete for a series, which does not end for a small change. */
static uint64_t rank_of(uint64_t bytes, bool kept)
{
	return kept ? bytes + bytes / 4 : bytes;
}

static bool has_code(const struct model *m, const struct resident_record *r)
{
	const struct frames *f = model_frames(m, &r->toucher, r->stack);

	return f && frames_count(f);
}

/* Writes the label `code`. What a process names must not look like a name of faultscope. */
static void write_code(const struct model *m, const struct resident_record *r,
		       char ret[LABEL_BYTES])
{
	const struct memory_row row = {.sum = *r, .f = model_frames(m, &r->toucher, r->stack)};

	label_copy(ret, LABEL_BYTES, memory_line(&row).s);
	if (ret[0] == '~')
		ret[0] = '_';
}

static uint64_t key_of(const struct model *m, const struct resident_record *r)
{
	char code[LABEL_BYTES];
	uint64_t key;

	write_code(m, r, code);
	key = hash64_bytes(HASH64_BEGIN, code, strlen(code));
	key = hash64_bytes(key, &r->kind, sizeof(r->kind));
	return hash64_bytes(key, &r->by, sizeof(r->by));
}

static uint32_t find_workload(struct sums *s, const struct census_workload *w)
{
	if (!w->own)
		return 0;
	for (size_t i = 1; i < s->workloads; i++)
		if (s->workload[i].w == w)
			return i;
	s->workload[s->workloads] = (struct workload_sum){.w = w, .index = s->workloads};
	return s->workloads++;
}

static int add_part(struct sums *s, const struct part *one)
{
	struct part *more = array_grow(s->part, s->n, &s->room, PARTS_MAX, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->part = more;
	s->part[s->n++] = *one;
	s->workload[one->workload].bytes += one->bytes;
	return 0;
}

static int add_rows(struct sums *s, const struct resident_list *l, uint32_t workload)
{
	int err = 0;

	for (size_t i = 0; i < l->n && !err; i++) {
		const struct resident_record *r = &l->row[i];
		bool known = r->bytes && has_code(s->m, r);
		struct part one = {.bytes = r->bytes,
				   .row = r,
				   .workload = workload,
				   .sort = known ? PART_CODE : PART_UNKNOWN,
				   .key = known ? key_of(s->m, r) : r->by};

		if (r->bytes)
			err = add_part(s, &one);
	}
	return err;
}

/* Adds a process: the rows of its last reading, or its RSS if there was none. */
static int add_process(struct resident_places *r, struct sums *s, const struct subject *one,
		       const struct census_workload *w)
{
	const struct resident_of *of = model_resident(s->m, &one->id);
	struct part unread = {.workload = find_workload(s, w), .sort = PART_UNREAD};

	if (!of) {
		unread.bytes = gauges_rss_pages(&one->now.g) * s->m->tick.limits.page_bytes;
		return unread.bytes ? add_part(s, &unread) : 0;
	}
	r->each = of->now.sum.each;
	r->lost = of->now.sum.lost;
	return add_rows(s, &of->now, unread.workload);
}

static bool is_larger(const void *a, const void *b)
{
	const struct workload_sum *x = *(const struct workload_sum *const *)a;
	const struct workload_sum *y = *(const struct workload_sum *const *)b;

	return rank_of(x->bytes, x->kept) > rank_of(y->bytes, y->kept);
}

/* Counts all workloads but the largest as CENSUS_OTHER. */
static void fold_workloads(const struct resident_places *r, struct sums *s)
{
	const struct workload_sum *largest[RESIDENT_WORKLOADS_MAX], *one;
	bool has_rows[CENSUS_WORKLOADS_MAX + 1] = {};
	size_t n = 0;

	for (size_t i = 1; i < s->workloads; i++) {
		for (size_t k = 0; k < r->n && !s->workload[i].kept; k++)
			s->workload[i].kept =
				!strcmp(r->place[k].workload, name_of(&s->workload[i]));
		one = &s->workload[i];
		array_insert(largest, &n, r->workloads, sizeof(one), is_larger, &one);
	}
	for (size_t i = 0; i < n; i++)
		has_rows[largest[i]->index] = true;
	for (size_t i = 0; i < s->n; i++)
		if (!has_rows[s->part[i].workload])
			s->part[i].workload = 0;
}

static int order_labels(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->workload != y->workload)
		return x->workload < y->workload ? -1 : 1;
	if (x->sort != y->sort)
		return x->sort < y->sort ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* Makes one part of those with the same labels. */
static void merge(struct sums *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->part, s->n, sizeof(s->part[0]), order_labels);
	for (size_t i = 0; i < s->n; i++) {
		if (n && !order_labels(&s->part[n - 1], &s->part[i]))
			s->part[n - 1].bytes += s->part[i].bytes;
		else
			s->part[n++] = s->part[i];
	}
	s->n = n;
}

static void note_kept(const struct resident_places *r, struct sums *s)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < r->n && !s->part[i].kept; k++)
			s->part[i].kept = s->part[i].sort == PART_CODE &&
					  r->place[k].key == s->part[i].key &&
					  !strcmp(r->place[k].workload,
						  name_of(&s->workload[s->part[i].workload]));
}

/* Puts the largest code places of a workload first. Other parts stay behind them. */
static int order_ranks(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	uint64_t left = rank_of(x->bytes, x->kept), right = rank_of(y->bytes, y->kept);

	if (x->workload != y->workload || x->sort != y->sort || x->sort != PART_CODE ||
	    left == right)
		return order_labels(a, b);
	return left < right ? 1 : -1;
}

static struct resident_place *add_place(struct resident_places *r, const struct workload_sum *w,
					const char *code, uint64_t bytes)
{
	struct resident_place *more =
		array_grow(r->place, r->n, &r->room, RESIDENT_SERIES_MAX, sizeof(*more));

	if (!more)
		return NULL;
	r->place = more;
	more += r->n++;
	*more = (struct resident_place){.kind = "", .by = "", .bytes = bytes};
	array_copy(more->workload, sizeof(more->workload), name_of(w));
	array_copy(more->code, sizeof(more->code), code);
	return more;
}

/* Adds the row of a part. Returns 0 or -ENOMEM. */
static int add_row(struct resident_places *r, const struct sums *s, const struct part *one)
{
	const struct workload_sum *w = &s->workload[one->workload];
	struct resident_place *to;
	char code[LABEL_BYTES];

	if (one->sort == PART_CODE)
		write_code(s->m, one->row, code);
	else
		array_copy(code, sizeof(code),
			   one->sort == PART_UNKNOWN ? RESIDENT_PLACE_UNKNOWN
						     : RESIDENT_PLACE_UNREAD);
	to = add_place(r, w, code, one->bytes);
	if (!to)
		return -ENOMEM;
	if (one->row)
		to->by = resident_by_name(one->row->by);
	if (one->sort != PART_CODE)
		return 0;
	to->kind = holding_kind_name(one->row->kind);
	to->key = one->key;
	return 0;
}

/* Adds the rows of a workload, whose parts begin at *at. Moves *at behind them. */
static int add_workload(struct resident_places *r, const struct sums *s, size_t *at)
{
	const struct workload_sum *w = &s->workload[s->part[*at].workload];
	uint64_t other = 0;
	size_t places = 0;
	int err = 0;

	for (; *at < s->n && &s->workload[s->part[*at].workload] == w && !err; (*at)++) {
		const struct part *one = &s->part[*at];

		if (one->sort == PART_CODE && places++ >= r->most)
			other += one->bytes;
		else
			err = add_row(r, s, one);
	}
	if (!err && other && !add_place(r, w, RESIDENT_PLACE_OTHER, other))
		err = -ENOMEM;
	return err;
}

static int sum_up(struct resident_places *r, struct sums *s, const struct census *c,
		  resident_shows_fn *shows, void *ctx)
{
	int err = 0;

	s->workloads = 1;
	for (const struct subject *one = model_each(s->m, NULL); one && !err;
	     one = model_each(s->m, one)) {
		const struct census_workload *w = census_workload_of(c, &one->id);

		if (!one->final && !one->hidden && !(one->now.g.flags & PROC_SHARES_MM) && w &&
		    shows(ctx, w->id.name))
			err = add_process(r, s, one, w);
	}
	if (err)
		return err;
	fold_workloads(r, s);
	merge(s);
	note_kept(r, s);
	if (s->n)
		qsort(s->part, s->n, sizeof(s->part[0]), order_ranks);
	return 0;
}

int resident_places_fill(struct resident_places *r, const struct model *m, const struct census *c,
			 resident_shows_fn *shows, void *ctx)
{
	struct sums *s = calloc(1, sizeof(*s));
	size_t at = 0;
	int err;

	if (!s)
		return -ENOMEM;
	s->m = m;
	err = sum_up(r, s, c, shows, ctx);
	r->n = 0;
	while (at < s->n && !err)
		err = add_workload(r, s, &at);
	if (err)
		r->n = 0;
	free(s->part);
	free(s);
	return err;
}

void resident_places_free(struct resident_places *r)
{
	free(r->place);
	r->place = NULL;
	r->n = r->room = 0;
}

uint32_t resident_places_series(const struct resident_places *r)
{
	return (r->workloads + 1) * (r->most + RESIDENT_ROWS_BESIDES);
}
