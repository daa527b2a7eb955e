/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: adds up the chosen pages that were found, by who made them resident, and estimates the
 * bytes that they stand for.
 */
#ifndef FS_RESIDENT_HELD_H
#define FS_RESIDENT_HELD_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"

/* The kernel counts resident pages in these groups. */
enum row_group { GROUP_ANON, GROUP_FILE, GROUP_SHMEM, GROUP_DEVICE, NR_GROUPS };

/* What pages of a row have in common. */
struct row_key {
	struct process_key toucher;
	__s32 stack, before;
	__u32 by;   /* enum resident_by */
	__u32 kind; /* enum holding_kind */
	__u32 group;
	char file[FILE_NAME_LEN];
};

struct row {
	struct row_key key;
	__u64 present, swapped; /* chosen pages */
	__u64 huge_bytes;
	__u64 size; /* for the order of the rows */
};

struct held {
	struct row *row; /* owned */
	size_t n, room;
	__u32 *slot; /* hash table of 1 + index; owned */
};

/* Returns 0 or -ENOMEM. */
int held_open(struct held *r);
void held_free(struct held *r);

/* Counts a chosen page. */
int held_add_page(struct held *r, const struct row_key *key, bool swapped);

/* Counts a huge page, which needs no estimate. */
int held_add_huge(struct held *r, const struct row_key *key, __u64 bytes);

/*
 * Sends the rows as records, those with most memory first, and then `sum`, whose totals are those
 * of the kernel. Returns 0 or the result of the sink.
 */
int held_send(struct held *r, struct resident_sum_record *sum, const struct sink *sink);

#endif
