/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: which call stacks hold the resident memory of each process, as first and as last read. */
#ifndef FS_MODEL_RESIDENT_H
#define FS_MODEL_RESIDENT_H

#include "model/model.h"

#define RESIDENT_PROCESSES_MAX 1024
#define RESIDENT_ROWS_MAX      8192

/* The rows of a process at one moment. */
struct resident_list {
	struct resident_record *row; /* those with most memory first; owned */
	size_t n, room;
	struct resident_sum_record sum; /* h.t_ns 0: the list is not complete */
};

/* Readings that are kept to show the growth of the last `since_ns` nanoseconds. */
#define RESIDENT_BASES 10

struct resident_of {
	struct process_key id;
	char comm[COMM_LEN]; /* name of the process when it was last read */
	struct resident_list first, now;
	struct resident_list base[RESIDENT_BASES]; /* oldest first; only if `since_ns` is set */
	size_t bases;
	struct resident_list peak; /* the list with most resident memory; empty: it is `first` */
	struct resident_list next; /* the list that is being received */
};

struct resident_all {
	/* growth is shown for this time before a reading; 0: since the first reading */
	uint64_t since_ns;
	struct resident_of of[RESIDENT_PROCESSES_MAX];
	size_t n;
	uint64_t lost; /* processes and rows for which there was no room */
};

/* Stores a record; called only by model_take(). Return 0 or -ENOMEM. */
int resident_take(struct model *m, const struct resident_record *r);
int resident_take_sum(struct model *m, const struct resident_sum_record *r);
void resident_all_free(struct model *m);

/* Drops the lists of processes that have ended, for programs that run for months. */
void model_resident_forget_ended(struct model *m);

/* Returns the lists of a process, or NULL. The lists `first` and `now` are complete. */
const struct resident_of *model_resident(const struct model *m, const struct process_key *id);

/* Returns the processes one after another, also those that have ended; the first after NULL. */
const struct resident_of *model_resident_each(const struct model *m,
					      const struct resident_of *last);

/*
 * Returns the list to show: the last one or, for a process that has ended, the one with most
 * resident memory. At its end, a process gives its memory back.
 */
const struct resident_list *resident_shown(const struct resident_of *of, bool ended);

/*
 * Returns the name of the runtime of a process if its garbage collector moves objects, or NULL.
 * The names of mapped files show the runtime.
 */
const char *resident_runtime(const struct resident_list *l);

/* Format of a note about such a runtime; both arguments are its name. */
#define RESIDENT_MOVING                                                                            \
	"the garbage collector of %s moves objects, so the first code that touches a page of its " \
	"heap may be the collector; the heap profiler of %s shows who allocated the objects"
/* Words after a number of faults, for as_words(). */
#define RESIDENT_LOST                                                                              \
	"fault{|s} of chosen pages {was|were} not noted: {its|their} memory is among the memory "  \
	"without a stack"

/* Returns the name of an enum resident_by, such as "touched". */
const char *resident_by_name(uint32_t by);

/* Says why memory without a stack is resident, such as "resident before the watch began". */
const char *resident_no_stack(uint32_t by);

/* Returns the bytes of a row, in memory and in swap. */
uint64_t resident_bytes(const struct resident_record *r);

/*
 * Shows growth in the last `since_ns` nanoseconds, and not since the first reading. Call it before
 * the first reading. Returns 0 or -ENOMEM.
 */
int model_resident_since(struct model *m, uint64_t since_ns);

/* Returns the list with which a list of a process is compared. */
const struct resident_list *resident_base(const struct model *m, const struct resident_of *of,
					  const struct resident_list *list);

/*
 * Returns by how many bytes, in memory and in swap, a row of a list differs from an older list of
 * its process. A row with as many chosen pages as before has not changed. Memory that was resident
 * before the watch began does not grow.
 */
int64_t resident_growth(const struct resident_list *base, const struct resident_list *list,
			const struct resident_record *row);

#endif
