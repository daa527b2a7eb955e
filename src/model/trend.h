/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: what some fields were in the last windows, by process and of all: what sparklines are
 * drawn of. Rates of what counts, values of what does not.
 */
#ifndef FS_MODEL_TREND_H
#define FS_MODEL_TREND_H

#include "model/fields.h"

#define TREND_SAMPLES 60
#define TREND_FIELDS  8
#define TRENDS_MAX    8192 /* processes */

struct trend;

/* Zero-initialise but for the fields. */
struct trends {
	const struct field *field[TREND_FIELDS]; /* `fields` of them */
	size_t fields;
	struct table by_subject;
	struct trend *host; /* what counts, of all processes that were shown; owned */
	size_t n;
	uint64_t lost;	 /* processes beyond the cap, times looks */
	uint64_t window; /* looks so far */
};

/* At the end of each window. -ENOMEM. */
int trends_update(struct trends *t, const struct model *m);

/*
 * The last `n` samples, the oldest first, of a process or (NULL) of all; before the first one, 0.
 * Returns how many there were, at most `n`.
 */
size_t trends_read(const struct trends *t, const struct process_key *of, const struct field *f,
		   double *ret, size_t n);

/* Keeps the fields. */
void trends_clear(struct trends *t);

#endif
