/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: page faults that were drawn by chance, with address and user stack, of a whole recording.
 * Bounded: when they are as many as there is room for every second one goes, and those that stay
 * stand for twice as many.
 */
#ifndef FS_MODEL_SAMPLES_H
#define FS_MODEL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "records/records.h"

#define SAMPLES_MAX 32768 /* even: every second one goes */

struct samples {
	struct sample_record *sample; /* by time */
	size_t n, room;
	uint64_t taken;	      /* with those that went */
	uint32_t least, most; /* weights that they came with */
	unsigned int
		thinned; /* how often every second one went; of later ones as many go at once */
};

/* -ENOMEM. */
int samples_take(struct samples *s, const struct sample_record *r);
void samples_free(struct samples *s);

#define SAMPLES_ORDER(a, b)                                                                        \
	if ((a) != (b))                                                                            \
	return (a) < (b) ? -1 : 1

/* As a comparison: by process. */
int sample_order_process(const struct sample_record *x, const struct sample_record *y);

/* All of them by `order`, as qsort() takes it; the caller frees it. NULL: out of memory. */
const struct sample_record **samples_sort(const struct samples *s,
					  int (*order)(const void *, const void *));

/* What one brought in: a page, a huge one. */
uint64_t sample_bytes(const struct sample_record *r, const struct host_limits *l);

#endif
