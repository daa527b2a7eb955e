/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: latest totals of slow page faults and of waits for mmap_lock, by process, class, file,
 * lock holder and user stack.
 */
#ifndef FS_MODEL_SLOW_H
#define FS_MODEL_SLOW_H

#include "model/model.h"

#define SLOW_ROWS_MAX 1024

struct slow_row {
	struct slow_faults_record now;
	struct slow_faults_record before; /* totals at the start of the current window */
	uint64_t window;		  /* last window in which the totals grew */
};

struct slow_rows {
	struct slow_row row[SLOW_ROWS_MAX]; /* the oldest row is replaced when the array is full */
	size_t n;
	uint64_t lost;
};

/* Stores a record; called only by model_take(). Returns 0 or -ENOMEM. */
int slow_take(struct model *m, const struct slow_faults_record *r);

/*
 * Returns whether two records are of the same row. If so, the totals of the later record include
 * those of the earlier one.
 */
bool slow_is_same(const struct slow_faults_record *a, const struct slow_faults_record *b);

/* Finds up to `room` rows of a process with the longest total time of faults or waits. */
size_t slow_worst(const struct model *m, const struct process_key *id, const struct slow_row **ret,
		  size_t room);

/*
 * Finds slow waits of a process for its mmap_lock, in the last window, while another process held
 * the lock. Stores the sum of their times in *ret_ns. Returns the row with the longest wait, or
 * NULL if there is none.
 */
const struct slow_row *slow_for_others(const struct model *m, const struct process_key *id,
				       uint64_t *ret_ns);

/*
 * Returns the row of the system call that held the process's mmap_lock longest while its threads
 * waited, or NULL if there is none.
 */
const struct slow_row *slow_own_hold(const struct model *m, const struct process_key *id);

/* Returns the name of a row's class, such as "file_major", "call" or "holder". */
const char *slow_sort(const struct slow_faults_record *r);

#endif
