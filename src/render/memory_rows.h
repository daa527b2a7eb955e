/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: who holds resident memory, as texts and pages show it: by process, then by code. */
#ifndef FS_RENDER_MEMORY_ROWS_H
#define FS_RENDER_MEMORY_ROWS_H

#include "model/memory_holders.h"
#include "model/resident.h"
#include "render/render.h"

#define MEMORY_KIND_BYTES 192

struct memory_kind {
	char s[MEMORY_KIND_BYTES];
};

/* Returns what kind of memory a row is: "heap", or "shared memory x, copied after a fork". */
struct memory_kind memory_kind(const struct resident_record *r);

/* A process that was read. */
struct memory_process {
	const struct resident_of *of;
	const struct resident_list *list; /* the reading to show */
	bool ended;
	uint64_t bytes; /* in memory and in swap */
};

/* Fills in the processes to show, those with most memory first. Returns their number. */
size_t memory_processes(const struct view *v, struct memory_process ret[RESIDENT_PROCESSES_MAX]);

#define MEMORY_ROWS_MAX 128

/* Memory that one line of Python code holds, or stacks with the same text. */
struct memory_row {
	struct resident_record sum; /* the first record, with the values of all records */
	const struct frames *f;	    /* stack of the first record; NULL: none */
	int64_t growth;
	size_t records;
};

struct memory_rows {
	struct memory_row row[MEMORY_ROWS_MAX]; /* largest first */
	size_t n;
	uint64_t rest; /* bytes of the records that are in no row */
	size_t rest_records;
};

/* Fills the rows of a process: at most `most` rows, each with at least 1/100 of its memory. */
void memory_rows_fill(struct memory_rows *ret, const struct view *v,
		      const struct memory_process *p, size_t most);

/*
 * Does the same for all processes of a top consumer that were read. There are no rows if none was.
 * Memory that was resident before the watch began has one row.
 */
void memory_rows_of_consumer(struct memory_rows *ret, const struct view *v,
			     const struct process_tree *k, const struct top_consumer *e,
			     size_t most);

#define MEMORY_LINE_BYTES 256

struct memory_line {
	char s[MEMORY_LINE_BYTES];
};

/*
 * Returns the code of a row in a few words: the user's line, or the innermost function that does
 * not belong to the C library, to a standard library or to an allocator; or why there is no stack.
 */
struct memory_line memory_line(const struct memory_row *row);

#endif
