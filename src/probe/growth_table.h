/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the kernel side's table of what grows, read where it is. Tells its rows, and gives back
 * places that are needed no more, before the table is full.
 */
#ifndef FS_PROBE_GROWTH_TABLE_H
#define FS_PROBE_GROWTH_TABLE_H

#include <stdbool.h>

#include "probe/source.h"
#include "wire.h"

/* Places that are kept free, if that can be: for what grows until the next look. */
#define GROWTH_SPARE (GROWTH_MAX / 2)

struct growth_table {
	/* the kernel side's; not owned */
	const struct growth *row; /* GROWTH_MAX of them; NULL: growth is not kept */
	struct fs_spare *spare;	  /* as many: a ring */
	struct fs_shared *shared;
	/* of each place */
	__u64 told_ns[GROWTH_MAX];  /* last_ns of the row as it was told last */
	__u32 given_at[GROWTH_MAX]; /* where it stands in the ring */
	bool given[GROWTH_MAX];	    /* it is in there */
};

/* Whether a process has ended, as far as the caller knows. */
typedef bool growth_ended_fn(void *ctx, const struct process_key *of);

/* Tells the rows that grew since they were told last. Returns 0, or what `sink` answers. */
int growth_table_send(struct growth_table *t, const struct sink *sink);

/*
 * Gives back places until GROWTH_SPARE are free, those that did not grow for longest first: of
 * mappings, since nothing refers to their rows once they are told; of descriptors, where all are
 * closed or their process has ended. `before_ns`: a process that began later may be one that
 * `ended` does not know yet.
 */
void growth_table_expire(struct growth_table *t, growth_ended_fn *ended, void *ctx,
			 __u64 before_ns);

/*
 * At each look, and before the first: how many stacks may be told until the next one. Each costs
 * who is watched a walk of its stack, and us its names.
 */
void growth_table_grant_stacks(struct fs_shared *shared);

#endif
