/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: reads the BPF programs' table of growth (new mappings and fds by call stack), in memory
 * shared with them. Sends rows, and releases entries before the table is full.
 */
#ifndef FS_PROBE_GROWTH_TABLE_H
#define FS_PROBE_GROWTH_TABLE_H

#include <stdbool.h>

#include "probe/source.h"
#include "wire.h"

/* Number of entries that growth_table_expire() keeps free for growth until the next scan. */
#define GROWTH_SPARE (GROWTH_MAX / 2)

struct growth_table {
	/* Pointers to memory that is shared with the BPF programs. */
	const struct growth *row; /* array of `rows` rows; NULL: growth is not recorded */
	__u32 rows;		  /* later rows are not read; at most GROWTH_MAX */
	struct fs_spare *spare;	  /* ring of GROWTH_MAX released entries */
	struct fs_shared *shared;
	/* Arrays with one element for each entry of the table. */
	__u64 told_ns[GROWTH_MAX];  /* last_ns of the entry's row when last sent */
	__u32 given_at[GROWTH_MAX]; /* position of the entry in the ring `spare` */
	bool given[GROWTH_MAX];	    /* true if the entry is in the ring `spare` */
};

/* Returns whether the process `of` is known to have exited. */
typedef bool growth_ended_fn(void *ctx, const struct process_key *of);

/* Sends rows that grew since they were last sent. Returns 0, or the error of sink->take(). */
int growth_table_send(struct growth_table *t, const struct sink *sink);

/*
 * Releases entries until GROWTH_SPARE are free. The entries that have not changed for longest are
 * released first. A row of mappings may be released after it was sent. A row of fds may be released
 * after all its fds were closed, or after the process has exited. A row newer than before_ns is
 * kept, as `ended` may not know the row's process yet.
 */
void growth_table_expire(struct growth_table *t, growth_ended_fn *ended, void *ctx,
			 __u64 before_ns);

/*
 * Sets how many stacks may be sent until the next scan. Call this before the first scan and at each
 * scan. Each new stack has two costs: the stack walk in the watched process, and the search for
 * function names in faultscope.
 */
void growth_table_grant_stacks(struct fs_shared *shared);

#endif
