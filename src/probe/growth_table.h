/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: reads the kernel side's table of growth, in memory shared with it. Sends rows, and
 * releases entries before the table is full.
 */
#ifndef FS_PROBE_GROWTH_TABLE_H
#define FS_PROBE_GROWTH_TABLE_H

#include <stdbool.h>

#include "probe/source.h"
#include "wire.h"

/* Number of entries that stay free for growth until the next scan. */
#define GROWTH_SPARE (GROWTH_MAX / 2)

struct growth_table {
	/* Pointers to memory that the kernel side owns. */
	const struct growth *row; /* array of GROWTH_MAX rows; NULL: growth is not recorded */
	struct fs_spare *spare;	  /* ring of GROWTH_MAX released entries */
	struct fs_shared *shared;
	/* Each array has one element for each entry of the table. */
	__u64 told_ns[GROWTH_MAX];  /* last_ns of the entry's row when last sent */
	__u32 given_at[GROWTH_MAX]; /* position of the entry in the ring `spare` */
	bool given[GROWTH_MAX];	    /* true if the entry is in the ring `spare` */
};

/* Returns whether a process is known to have exited. */
typedef bool growth_ended_fn(void *ctx, const struct process_key *of);

/* Sends rows that grew since they were last sent. Returns 0, or the sink's error. */
int growth_table_send(struct growth_table *t, const struct sink *sink);

/*
 * Releases entries until GROWTH_SPARE are free, the longest unchanged first: rows of mappings,
 * which nothing refers to once sent; rows of fds, if all are closed or the process has exited. A
 * process that started after before_ns is kept, as `ended` may not know it yet.
 */
void growth_table_expire(struct growth_table *t, growth_ended_fn *ended, void *ctx,
			 __u64 before_ns);

/*
 * Call before the first scan and at each scan: sets how many stacks may be sent until the next one.
 * Each costs the watched process a stack walk, and faultscope the search for names.
 */
void growth_table_grant_stacks(struct fs_shared *shared);

#endif
