/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: recent values of some fields, of each process and of the host, for sparklines. For a
 * counter, the values are rates per second.
 */
#ifndef FS_MODEL_TREND_H
#define FS_MODEL_TREND_H

#include "model/fields.h"

#define TREND_SAMPLES 60
#define TREND_FIELDS  8
#define TRENDS_MAX    8192 /* maximum number of processes */

struct trend;

/* Recent values of all processes. Initialise with zeros, except `field` and `fields`. */
struct trends {
	const struct field *field[TREND_FIELDS]; /* fields whose values are kept */
	size_t fields;
	struct table by_subject;
	struct trend *host; /* values summed over the processes shown; owned */
	size_t n;
	uint64_t lost;			/* number of values not stored because of TRENDS_MAX */
	uint64_t window;		/* number of windows so far */
	uint64_t end_ns[TREND_SAMPLES]; /* end of each window, CLOCK_MONOTONIC */
};

/* Stores the values of a window; call at its end. Returns 0 or -ENOMEM. */
int trends_update(struct trends *t, const struct model *m);

/*
 * Reads the last `n` values of a process, or of the host (NULL), oldest first. Values from before
 * the first one are 0. Returns the number of values, at most `n`.
 */
size_t trends_read(const struct trends *t, const struct process_key *of, const struct field *f,
		   double *ret, size_t n);

/*
 * Returns the time in seconds between the end of the last window and that of the one `n` - 1
 * windows before it, which are the last and the first of `n` values.
 */
double trends_span(const struct trends *t, size_t n);

/* Removes all values, but keeps the choice of `field` and `fields`. */
void trends_clear(struct trends *t);

#endif
