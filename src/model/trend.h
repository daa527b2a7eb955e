/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: recent values of some fields, per process and for the whole host, for sparklines: rates of
 * counters, values of gauges.
 */
#ifndef FS_MODEL_TREND_H
#define FS_MODEL_TREND_H

#include "model/fields.h"

#define TREND_SAMPLES 60
#define TREND_FIELDS  8
#define TRENDS_MAX    8192 /* maximum number of processes */

struct trend;

/* Initialise with zeros, except for `field` and `fields`. */
struct trends {
	const struct field *field[TREND_FIELDS]; /* fields whose values are kept */
	size_t fields;
	struct table by_subject;
	struct trend *host; /* counters summed over the processes shown; owned */
	size_t n;
	uint64_t lost;	 /* sum over windows of processes above TRENDS_MAX */
	uint64_t window; /* number of windows so far */
};

/* Call at the end of each window. Returns 0 or -ENOMEM. */
int trends_update(struct trends *t, const struct model *m);

/*
 * Reads the last `n` samples, oldest first, of a process or (NULL) of the host; 0 before the first
 * sample. Returns the number of samples, at most `n`.
 */
size_t trends_read(const struct trends *t, const struct process_key *of, const struct field *f,
		   double *ret, size_t n);

/* Removes all samples, but keeps `field` and `fields`. */
void trends_clear(struct trends *t);

#endif
