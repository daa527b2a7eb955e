// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "blackbox/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int bb_found_add(struct bb_found *f, const struct bb_record *r)
{
	struct bb_record *record;

	if (f->n == BB_FOUND_MAX) {
		f->lost++;
		return 0;
	}
	record = array_grow(f->record, f->n, &f->room, BB_FOUND_MAX, sizeof(*record));
	if (!record)
		return -ENOMEM;
	f->record = record;
	f->record[f->n++] = *r;
	return 0;
}

static size_t line_length(const char *at, size_t size)
{
	size_t n = 0;

	while (n < size && at[n] != '\n' && at[n])
		n++;
	return n;
}

/*
 * Adds the record that starts at `at`, if there is one. Returns the number of bytes to advance, or
 * -ENOMEM.
 */
static long take_at(struct bb_found *f, const uint8_t *at, size_t size)
{
	struct bb_record r;
	size_t line;
	int n;

	if (*at == BB_MAGIC[0]) {
		n = bb_decode(at, size, &r);
		if (n > 0)
			return bb_found_add(f, &r) ?: n;
		if (n == -EILSEQ)
			f->torn++;
		return n == -EILSEQ ? (long)strlen(BB_MAGIC) : 1;
	}
	if (size < strlen(BB_LINE_BEGINS) || memcmp(at, BB_LINE_BEGINS, strlen(BB_LINE_BEGINS)))
		return 1;
	line = line_length((const char *)at, size);
	n = bb_decode_line((const char *)at, line, &r);
	if (!n)
		n = bb_found_add(f, &r);
	else if (n == -EILSEQ)
		f->torn++;
	return n == -ENOMEM ? n : (long)line;
}

int bb_scan(struct bb_found *f, const void *data, size_t size)
{
	const uint8_t *p = data;
	size_t at = 0;

	while (at < size) {
		long n;

		if (p[at] != BB_MAGIC[0] && p[at] != BB_LINE_BEGINS[0]) {
			at++;
			continue;
		}
		n = take_at(f, p + at, size - at);
		if (n < 0)
			return n;
		at += n;
	}
	return 0;
}

int bb_boot_find(const struct bb_found *f, const uint8_t id[BB_BOOT_BYTES])
{
	for (size_t i = 0; i < f->boots; i++)
		if (!memcmp(f->boot[i].id, id, BB_BOOT_BYTES))
			return i;
	return -1;
}

static void note_boot(struct bb_found *f, const struct bb_record *r)
{
	int i = bb_boot_find(f, r->boot_id);
	struct bb_boot *b;

	if (i < 0 && f->boots == BB_BOOTS_MAX)
		return;
	if (i < 0) {
		b = &f->boot[f->boots++];
		*b = (struct bb_boot){.first_wall_ns = r->wall_ns};
		memcpy(b->id, r->boot_id, BB_BOOT_BYTES);
	} else {
		b = &f->boot[i];
	}
	if (r->wall_ns < b->first_wall_ns)
		b->first_wall_ns = r->wall_ns;
	if (r->boot_ns > b->alive_boot_ns) {
		b->alive_boot_ns = r->boot_ns;
		b->alive_wall_ns = r->wall_ns;
	}
}

static int by_first(const void *a, const void *b)
{
	const struct bb_boot *x = a, *y = b;

	return x->first_wall_ns < y->first_wall_ns ? -1 : x->first_wall_ns > y->first_wall_ns;
}

static int by_boot(const void *a, const void *b)
{
	const struct bb_record *x = a, *y = b;
	int id = memcmp(x->boot_id, y->boot_id, BB_BOOT_BYTES);

	if (id)
		return id;
	if ((x->class == BB_HEARTBEAT) != (y->class == BB_HEARTBEAT))
		return x->class == BB_HEARTBEAT ? 1 : -1; /* heartbeats have no sequence number */
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->boot_ns < y->boot_ns ? -1 : x->boot_ns > y->boot_ns;
}

static bool is_same(const struct bb_record *a, const struct bb_record *b)
{
	return a->sequence == b->sequence && a->class == b->class && a->boot_ns == b->boot_ns &&
	       !memcmp(a->boot_id, b->boot_id, BB_BOOT_BYTES);
}

/*
 * Counts the records of one boot. When called, *last_of is the sequence number before the first
 * record. On return, it is the sequence number of the last record.
 */
static void count_boot(struct bb_boot *b, const struct bb_record *r, size_t n, uint64_t *last_of)
{
	uint64_t last = *last_of;

	for (size_t i = 0; i < n; i++) {
		if (r[i].class == BB_HEARTBEAT)
			continue;
		if (r[i].sequence > last + 1)
			b->missing += r[i].sequence - last - 1;
		last = r[i].sequence;
		b->records++;
		b->stopped = r[i].class == BB_STOP;
	}
	*last_of = last;
}

static size_t drop_doubles(struct bb_record *r, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || !is_same(&r[kept - 1], &r[i]))
			r[kept++] = r[i];
	return kept;
}

/* Drops the records of boots beyond the maximum number of boots, BB_BOOTS_MAX. */
static void drop_homeless(struct bb_found *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->n; i++)
		if (bb_boot_find(f, f->record[i].boot_id) >= 0)
			f->record[kept++] = f->record[i];
	f->lost += f->n - kept;
	f->n = kept;
}

/* Compares records for sorting. Boots are ordered by time here; by_boot() orders them by id. */
static int by_time(const void *a, const void *b, void *found)
{
	const struct bb_record *x = a, *y = b;

	if (memcmp(x->boot_id, y->boot_id, BB_BOOT_BYTES))
		return bb_boot_find(found, x->boot_id) - bb_boot_find(found, y->boot_id);
	return by_boot(x, y);
}

void bb_found_settle(struct bb_found *f)
{
	uint64_t last = 0;

	f->boots = 0;
	if (!f->n)
		return;
	qsort(f->record, f->n, sizeof(*f->record), by_boot);
	f->n = drop_doubles(f->record, f->n);
	for (size_t i = 0; i < f->n; i++)
		note_boot(f, &f->record[i]);
	qsort(f->boot, f->boots, sizeof(f->boot[0]), by_first);
	drop_homeless(f);
	qsort_r(f->record, f->n, sizeof(*f->record), by_time, f);
	for (size_t b = 0; b < f->boots; b++) {
		size_t first = 0, n = 0;

		while (first < f->n &&
		       memcmp(f->record[first].boot_id, f->boot[b].id, BB_BOOT_BYTES))
			first++;
		while (first + n < f->n &&
		       !memcmp(f->record[first + n].boot_id, f->boot[b].id, BB_BOOT_BYTES))
			n++;
		count_boot(&f->boot[b], f->record + first, n, &last);
	}
}

void bb_found_free(struct bb_found *f)
{
	free(f->record);
	memset(f, 0, sizeof(*f));
}
