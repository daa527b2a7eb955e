// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PAGE_TABLE_ENTRY 8 /* bytes of a page table entry; one page has entries for a huge page */

static void thin(struct samples *s)
{
	for (size_t i = 0; i < s->n / 2; i++) {
		s->sample[i] = s->sample[2 * i];
		s->sample[i].weight *= 2;
	}
	s->n /= 2;
	s->thinned++;
}

/* Replaces invalid values, which only a hostile file has. */
static void tidy(struct sample_record *r)
{
	if (r->class >= NR_CLASSES)
		r->class = CLASS_OTHER;
	if (r->kind >= NR_HOLDING_KINDS)
		r->kind = HOLDING_OTHER;
	if (r->area_from > r->address || r->area_to <= r->address)
		r->area_from = r->area_to = 0;
	r->major = !!r->major;
}

int samples_take(struct samples *s, const struct sample_record *r)
{
	struct sample_record *more;

	if (!r->weight || r->weight > UINT32_MAX >> 16)
		return 0; /* only a hostile file has a weight of this size */
	if (!s->taken++ || r->weight < s->least)
		s->least = r->weight;
	if (r->weight > s->most)
		s->most = r->weight;
	if (s->n == SAMPLES_MAX)
		thin(s);
	/*
	 * drop new samples at the rate at which old ones were dropped, so that all have equal
	 * weights
	 */
	if (s->taken & ((1u << (s->thinned & 15)) - 1))
		return 0;
	more = array_grow(s->sample, s->n, &s->room, SAMPLES_MAX, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->sample = more;
	more[s->n] = *r;
	tidy(&more[s->n]);
	more[s->n++].weight <<= s->thinned & 15;
	return 0;
}

void samples_free(struct samples *s)
{
	free(s->sample);
	memset(s, 0, sizeof(*s));
}

uint64_t sample_bytes(const struct sample_record *r, const struct host_limits *l)
{
	switch (r->class) {
	case CLASS_HUGE:
	case CLASS_COMPACTED:
		return l->page_bytes * (l->page_bytes / PAGE_TABLE_ENTRY);
	case CLASS_HUGETLB:
		return l->huge_page_bytes;
	}
	return l->page_bytes;
}

int sample_order_process(const struct sample_record *x, const struct sample_record *y)
{
	SAMPLES_ORDER(x->subject.start_ns, y->subject.start_ns);
	SAMPLES_ORDER(x->subject.pid, y->subject.pid);
	return 0;
}

const struct sample_record **samples_sort(const struct samples *s,
					  int (*order)(const void *, const void *))
{
	size_t n = s->n < SAMPLES_MAX ? s->n : SAMPLES_MAX;
	const struct sample_record **r = calloc(n + 1, sizeof(*r));

	for (size_t i = 0; r && i < n; i++)
		r[i] = &s->sample[i];
	if (r)
		qsort(r, n, sizeof(*r), order);
	return r;
}
