// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/html/address_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const char *const kind_names[] = {
#define X(id, name) name,
	HOLDING_KINDS(X)
#undef X
};

const char *address_name(const struct address_area *a)
{
	return *a->name ? a->name : kind_names[a->kind];
}

static int order_names(const struct sample_record *x, const struct sample_record *y)
{
	int order = sample_order_process(x, y);

	if (order)
		return order;
	SAMPLES_ORDER(x->kind, y->kind);
	return strncmp(x->file, y->file, sizeof(x->file));
}

static int order_addresses(const void *a, const void *b)
{
	const struct sample_record *x = *(const struct sample_record *const *)a;
	const struct sample_record *y = *(const struct sample_record *const *)b;
	int order = order_names(x, y);

	if (order)
		return order;
	SAMPLES_ORDER(x->area_from, y->area_from);
	SAMPLES_ORDER(x->address, y->address);
	return 0;
}

static void begin_area(struct address_area *a, const struct sample_record *r)
{
	*a = (struct address_area){
		.subject = r->subject, .kind = r->kind, .from = r->area_from, .to = r->area_to};
	memcpy(a->name, r->file, sizeof(a->name));
}

static bool has_more_faults(const void *a, const void *b)
{
	const struct address_area *x = a, *y = b;

	return x->faults > y->faults;
}

/*
 * Inserts an area into the list, sorted by number of faults. If the list is full, drops the area
 * with the fewest faults.
 */
static void keep_area(struct address_map *m, const struct address_area *a)
{
	array_insert(m->area, &m->areas, ADDRESS_AREAS_MAX, sizeof(*a), has_more_faults, a);
}

/*
 * Finds the touched addresses of each mapping. Untouched ones are not drawn, because they may be
 * most of a large mapping.
 */
static void find_areas(struct address_map *m, const struct sample_record *const *r, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint64_t low = UINT64_MAX, high = 0;
		struct address_area a;
		size_t k = i;

		begin_area(&a, r[i]);
		for (; k < n && !order_names(r[i], r[k]) && r[k]->area_from <= a.to; k++) {
			a.to = r[k]->area_to > a.to ? r[k]->area_to : a.to;
			a.faults += r[k]->weight;
			low = r[k]->address < low ? r[k]->address : low;
			high = r[k]->address > high ? r[k]->address : high;
		}
		a.from = low;
		a.to = high;
		keep_area(m, &a);
		i = k;
	}
}

/* Divides each area into rows of equal size. The number of pages in a row is a power of two. */
static int make_rows(struct address_map *m, const struct story_view *s)
{
	uint64_t page = s->v->m->tick.limits.page_bytes ? s->v->m->tick.limits.page_bytes : 4096;

	for (size_t i = 0; i < m->areas; i++) {
		struct address_area *a = &m->area[i];
		uint64_t run = page;

		a->from -= a->from % page;
		while ((a->to - a->from) / run >= ADDRESS_RUNS)
			run *= 2;
		a->first = m->rows;
		a->rows = (a->to - a->from) / run + 1;
		for (size_t k = 0; k < a->rows; k++) {
			struct address_row *row = &m->row[m->rows];

			*row = (struct address_row){.area = i,
						    .from = a->from + k * run,
						    .to = a->from + (k + 1) * run};
			row->by_point = calloc(HISTORY_POINTS_MAX, sizeof(*row->by_point));
			if (!row->by_point)
				return -ENOMEM;
			m->rows++;
		}
		a->to = m->row[m->rows - 1].to;
	}
	return 0;
}

static struct address_row *row_of(struct address_map *m, const struct sample_record *r)
{
	for (size_t i = 0; i < m->areas; i++) {
		const struct address_area *a = &m->area[i];
		uint64_t run = m->row[a->first].to - m->row[a->first].from;

		if (same_subject(&a->subject, &r->subject) && a->kind == r->kind &&
		    !strncmp(a->name, r->file, sizeof(a->name)) && r->address >= a->from &&
		    r->address < a->to)
			return &m->row[a->first + (r->address - a->from) / run];
	}
	return NULL;
}

static void fill_rows(struct address_map *m, const struct story_view *s)
{
	const struct samples *all = s->v->m->samples;

	for (size_t i = 0; i < all->n; i++) {
		const struct sample_record *r = &all->sample[i];
		struct address_row *row = row_of(m, r);

		m->faults += r->weight;
		if (!row) {
			m->elsewhere += r->weight;
			continue;
		}
		row->faults += r->weight;
		row->major += r->major ? r->weight : 0;
		row->stall_ns += (uint64_t)r->weight * r->took_ns;
		row->by_point[story_point(s, r->h.t_ns)] += r->weight;
	}
}

int addresses_make(struct address_map *m, const struct story_view *s)
{
	const struct samples *all = s->v->m->samples;
	const struct sample_record **r;
	int err;

	memset(m, 0, sizeof(*m));
	if (!all || !all->n || !s->h->points)
		return 0;
	r = samples_sort(all, order_addresses);
	if (!r)
		return -ENOMEM;
	find_areas(m, r, all->n);
	free(r);
	err = make_rows(m, s);
	if (err)
		addresses_free(m);
	else
		fill_rows(m, s);
	return err;
}

void addresses_free(struct address_map *m)
{
	for (size_t i = 0; i < m->rows; i++)
		free(m->row[i].by_point);
	memset(m, 0, sizeof(*m));
}
