/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: builds the rows of one file, in pages, from rules that are added in the order of
 * addresses.
 */
#ifndef FS_UNWIND_ROW_TABLE_H
#define FS_UNWIND_ROW_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "wire_unwind.h"

#define UNWIND_PAGES_MAX (1u << 16) /* 4 GiB of text */
#define UNWIND_ROWS_MAX	 (1u << 22) /* 16 MiB */

/* Zero-initialise. */
struct row_table {
	__u64 base;		     /* address of the first page */
	struct fs_unwind_page *page; /* owned */
	size_t pages;
	struct fs_unwind_row *row; /* owned */
	size_t rows;
	size_t room;
	size_t filled; /* number of pages that have their first row */
};

/* Allocates pages for the addresses from `start` to `end`. Returns 0, -ENOMEM, or -E2BIG. */
int row_table_init(struct row_table *t, __u64 start, __u64 end);
void row_table_free(struct row_table *t);

/* Frees pages and rows after they were copied. Only `base` stays known. */
void row_table_free_rows(struct row_table *t);

/*
 * Sets the rule from `address` on. Addresses must not decrease; of several rules for one address,
 * the last one stays. Returns 0, -EINVAL for an address outside of the pages or a decreasing one,
 * or -E2BIG.
 */
int row_table_add(struct row_table *t, __u64 address, __u16 rule);

/* Fills the pages after the last rule, and frees unused memory. */
int row_table_finish(struct row_table *t);

/* Returns the rule of an address; FS_UNWIND_RULE_GAP outside of the pages. */
__u16 row_table_find(const struct row_table *t, __u64 address);

size_t row_table_bytes(const struct row_table *t);

#endif
