/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: faults that took long, and waits for the lock of the address space, by process, sort,
 * file, holder of the lock and place in the code: the latest figures of each.
 */
#ifndef FS_MODEL_SLOW_H
#define FS_MODEL_SLOW_H

#include "model/model.h"

#define SLOW_ROWS_MAX 1024

struct slow_row {
	struct slow_faults_record now;
	struct slow_faults_record before; /* as it was when the window began */
	uint64_t window;		  /* the last one that it grew in */
};

struct slow_rows {
	struct slow_row row[SLOW_ROWS_MAX]; /* the one told longest ago makes room */
	size_t n;
	uint64_t lost;
};

/* For model_take(): -ENOMEM. */
int slow_take(struct model *m, const struct slow_faults_record *r);

/* Whether two tell of the same sort: then the later one holds the earlier. */
bool slow_is_same(const struct slow_faults_record *a, const struct slow_faults_record *b);

/* The rows of a process of faults or waits that took most in all; up to `room`. */
size_t slow_worst(const struct model *m, const struct process_key *id, const struct slow_row **ret,
		  size_t room);

/*
 * How long a process waited in the last window, as far as that was slow, while others had the lock
 * of its address space: its row of the one that it waited longest for; NULL: nobody.
 */
const struct slow_row *slow_for_others(const struct model *m, const struct process_key *id,
				       uint64_t *ret_ns);

/* Which of its own calls had the lock longest, ever, while its threads waited; NULL: not known. */
const struct slow_row *slow_own_hold(const struct model *m, const struct process_key *id);

/* "file_major", ..., "call", "holder" */
const char *slow_sort(const struct slow_faults_record *r);

#endif
