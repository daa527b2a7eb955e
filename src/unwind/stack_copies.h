/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: copies of stacks whose unwind tables were not ready when the event occurred. A copy waits
 * until the mappings of its process are read and the tables are made, and is walked then.
 */
#ifndef FS_UNWIND_STACK_COPIES_H
#define FS_UNWIND_STACK_COPIES_H

#include "unwind/mapped_code.h"

#define STACK_COPIES_MAX 512 /* of at most 64 KiB each, usually less than 16 KiB */
/* A copy that could not be walked after this time is dropped. */
#define STACK_COPY_WAIT_NS 3000000000ULL

struct stack_copies {
	struct stack_copy_record *copy[STACK_COPIES_MAX]; /* owned */
	size_t n;
	__u64 walked, dropped; /* since the start */
};

/* Generation in the records of walked copies: the mappings are those that are being read. */
#define STACK_COPY_GENERATION 0xffffffff

/* Called with each walked stack. */
typedef void stack_walked_fn(void *ctx, const struct walk_record *r);

/* Keeps a copy of the record. Drops it if there are too many, or if it is not well-formed. */
void stack_copies_add(struct stack_copies *x, const struct stack_copy_record *r);

/*
 * Walks the copies of the process whose mappings were read, as far as these mappings are those of
 * the time of the copy. A stack that needs a table that is still missing is kept.
 */
void stack_copies_walk(struct stack_copies *x, const struct mapped_code *c, struct unwind_maps *m,
		       stack_walked_fn *walked, void *ctx);

/* Drops the copies of a process; `of` NULL: copies that waited too long. */
void stack_copies_drop(struct stack_copies *x, const struct process_key *of, __u64 now_ns);

void stack_copies_free(struct stack_copies *x);

#endif
