// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/held.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "probe/host_facts.h"
#include "resident/page_ranges.h"

#define ROWS_MAX 4096
#define SLOTS	 (4 * ROWS_MAX)
#define Z	 1.96 /* of a 95 % interval */

int held_open(struct held *r)
{
	memset(r, 0, sizeof(*r));
	r->slot = calloc(SLOTS, sizeof(*r->slot));
	return r->slot ? 0 : -ENOMEM;
}

void held_free(struct held *r)
{
	free(r->row);
	free(r->slot);
	memset(r, 0, sizeof(*r));
}

/* Returns the row of a key, a new one if there is none yet; NULL: no memory. */
static struct row *held_row(struct held *r, const struct row_key *key)
{
	struct row_key other = {.stack = -1, .before = -1, .by = key->by, .group = key->group};
	__u32 at = hash64_bytes(HASH64_BEGIN, key, sizeof(*key)) % SLOTS;
	struct row *more;

	for (; r->slot[at]; at = (at + 1) % SLOTS)
		if (!memcmp(&r->row[r->slot[at] - 1].key, key, sizeof(*key)))
			return &r->row[r->slot[at] - 1];
	if (r->n >= ROWS_MAX && memcmp(key, &other, sizeof(other)))
		return held_row(r, &other); /* the rest shares a few rows */
	more = array_grow(r->row, r->n, &r->room, 2 * ROWS_MAX, sizeof(*more));
	if (!more)
		return NULL;
	r->row = more;
	more[r->n] = (struct row){.key = *key};
	r->slot[at] = r->n + 1;
	return &more[r->n++];
}

int held_add_page(struct held *r, const struct row_key *key, bool swapped)
{
	struct row *row = held_row(r, key);

	if (!row)
		return -ENOMEM;
	if (swapped)
		row->swapped++;
	else
		row->present++;
	return 0;
}

int held_add_huge(struct held *r, const struct row_key *key, __u64 bytes)
{
	struct row *row = held_row(r, key);

	if (row)
		row->huge_bytes += bytes;
	return row ? 0 : -ENOMEM;
}

/* Chosen pages of all rows of a group, and the bytes that they stand for. */
struct population {
	double pages, bytes;
};

/* Estimates the bytes of `pages` of a population, with a 95 % interval (Wilson's). */
static void estimate(const struct population *p, double pages, __u64 *ret, __u64 *ret_low,
		     __u64 *ret_high)
{
	double n = p->pages, share = p->pages ? pages / p->pages : 0;
	double middle = (share + Z * Z / (2 * n)) / (1 + Z * Z / n);
	double half = Z / (1 + Z * Z / n) * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));

	*ret = share * p->bytes;
	if (!p->pages) {
		*ret_low = *ret_high = 0;
		return;
	}
	*ret_low = fmax(0, fmin(share, middle - half)) * p->bytes;
	*ret_high = fmin(1, fmax(share, middle + half)) * p->bytes;
}

static void populate(const struct held *r, const struct resident_sum_record *sum,
		     struct population p[NR_GROUPS], struct population *swap)
{
	const __u64 bytes[NR_GROUPS] = {sum->anon_bytes, sum->file_bytes, sum->shmem_bytes, 0};

	for (int i = 0; i < NR_GROUPS; i++)
		p[i] = (struct population){0, bytes[i]};
	*swap = (struct population){0, sum->swap_bytes};
	for (size_t i = 0; i < r->n; i++) {
		const struct row *row = &r->row[i];
		struct population *of = &p[row->key.group];

		of->pages += row->present;
		of->bytes = fmax(0, of->bytes - row->huge_bytes);
		swap->pages += row->swapped;
	}
	/* the kernel has no count of these pages */
	p[GROUP_DEVICE].bytes = p[GROUP_DEVICE].pages * PAGE_BYTES * sum->each;
}

static int by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->size < y->size   ? 1
	       : x->size > y->size ? -1
				   : memcmp(&x->key, &y->key, sizeof(x->key));
}

/*
 * Adds rows for memory that the kernel counts in a group of which no page was chosen, because it is
 * small. Its bytes are exact.
 */
static int add_not_chosen(struct held *r, const struct population p[NR_GROUPS])
{
	static const __u32 kinds[NR_GROUPS] = {HOLDING_ANONYMOUS, HOLDING_FILE_PRIVATE,
					       HOLDING_SHARED_MEMORY, HOLDING_OTHER};
	int err = 0;

	for (int i = 0; i < NR_GROUPS && !err; i++) {
		const struct row_key key = {.stack = -1,
					    .before = -1,
					    .by = RESIDENT_NOT_CHOSEN,
					    .kind = kinds[i],
					    .group = i};

		if (!p[i].pages && p[i].bytes >= PAGE_BYTES)
			err = held_add_huge(r, &key, p[i].bytes);
	}
	return err;
}

static void fill_record(struct resident_record *ret, struct row *row, const struct population *of,
			const struct population *swap)
{
	__u64 low, high;

	ret->toucher = row->key.toucher;
	ret->stack = row->key.stack;
	ret->before = row->key.before;
	ret->by = row->key.by;
	ret->kind = row->key.kind;
	ret->pages = row->present + row->swapped;
	ret->huge_bytes = row->key.by == RESIDENT_NOT_CHOSEN ? 0 : row->huge_bytes;
	memcpy(ret->file, row->key.file, sizeof(ret->file));
	/* a row of huge pages may have small pages too, of which none was chosen by chance */
	estimate(of, row->present, &ret->bytes, &ret->low, &ret->high);
	ret->bytes += row->huge_bytes;
	ret->low += row->huge_bytes;
	ret->high += row->huge_bytes;
	estimate(swap, row->swapped, &ret->swapped_bytes, &low, &high);
}

int held_send(struct held *r, struct resident_sum_record *sum, const struct sink *sink)
{
	struct resident_record out = {.h = {RECORD_RESIDENT, sizeof(out), host_monotonic_ns()},
				      .subject = sum->subject};
	struct population of[NR_GROUPS], swap;
	int err = 0;

	populate(r, sum, of, &swap);
	err = add_not_chosen(r, of);
	for (size_t i = 0; i < r->n; i++)
		r->row[i].size = (r->row[i].present + r->row[i].swapped) * PAGE_BYTES * sum->each +
				 r->row[i].huge_bytes;
	if (r->n)
		qsort(r->row, r->n, sizeof(r->row[0]), by_size);
	for (size_t i = 0; i < r->n && !err; i++) {
		out.nth = i;
		fill_record(&out, &r->row[i], &of[r->row[i].key.group], &swap);
		err = sink->take(sink->ctx, &out.h);
	}
	if (err)
		return err;
	sum->h.t_ns = out.h.t_ns;
	sum->rows = r->n;
	return sink->take(sink->ctx, &sum->h);
}
