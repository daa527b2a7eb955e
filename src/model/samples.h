/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: stores randomly sampled page faults of a recording, with address and user stack. When the
 * array is full, every second sample is dropped, and the weights of the other samples are doubled.
 */
#ifndef FS_MODEL_SAMPLES_H
#define FS_MODEL_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "records/records.h"

#define SAMPLES_MAX 32768 /* even, so that every second sample can be dropped */

struct samples {
	struct sample_record *sample; /* array of samples in order of time; owned */
	size_t n, room;
	uint64_t taken; /* number of samples received, including dropped ones */
	/* lowest and highest weight of the samples when received, before any doubling */
	uint32_t least, most;
	unsigned int
		/*
		 * How often every second sample was dropped. Of new samples, only one in 2^thinned
		 * is kept.
		 */
		thinned;
};

/* samples_take() returns 0 or -ENOMEM. */
int samples_take(struct samples *s, const struct sample_record *r);
void samples_free(struct samples *s);

#define SAMPLES_ORDER(a, b)                                                                        \
	if ((a) != (b))                                                                            \
	return (a) < (b) ? -1 : 1

/* Compares two samples by process, for comparison functions of qsort(). */
int sample_order_process(const struct sample_record *x, const struct sample_record *y);

/*
 * Returns all samples, sorted by `order` as by qsort(); the caller frees them. Returns NULL if
 * there is no memory.
 */
const struct sample_record **samples_sort(const struct samples *s,
					  int (*order)(const void *, const void *));

/* Returns the bytes that a sampled fault mapped: a page or a huge page. */
uint64_t sample_bytes(const struct sample_record *r, const struct host_limits *l);

#endif
