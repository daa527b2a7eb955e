/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: reads which pages of a range are in memory or in swap, from /proc/PID/pagemap. The
 * kernel walks the page table of the process under its mmap_lock, so a reading is made of short
 * calls with pauses, in which the process can change its mappings. page_tables.h reads without a
 * lock, where the kernel allows it.
 */
#ifndef FS_RESIDENT_PAGE_RANGES_H
#define FS_RESIDENT_PAGE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "resident/lock_pause.h"

#define PAGE_SHIFT 12
#define PAGE_BYTES (1UL << PAGE_SHIFT)

/* Properties of the pages of a range. The zero page counts as not in memory. */
#define RANGE_PRESENT 1u
#define RANGE_SWAPPED 2u
#define RANGE_HUGE    4u /* mapped by huge pages */
#define RANGE_FILE    8u /* pages of a file or of shared memory, not private copies */

struct page_range {
	uint64_t from, to; /* page numbers */
	uint32_t what;	   /* RANGE_* bits: RANGE_PRESENT or RANGE_SWAPPED */
	uint64_t frame;	   /* number of the frame of the first page; 0: was not read */
};

struct page_reader {
	int fd;		     /* /proc/PID/pagemap */
	bool words;	     /* the kernel has no PAGEMAP_SCAN (6.7): read the entries themselves */
	struct lock_pause pause;
	uint64_t zero_frame; /* for `words`: frame of the zero page; ~0: not known */
};

/* Receives a range. Returns 0, or -errno to stop. */
typedef int range_fn(void *ctx, const struct page_range *r);

/* Returns whether a page is wanted. */
typedef bool wanted_fn(const void *ctx, uint64_t page);

/*
 * Calls `take` with ranges of pages from page number `from` to `to` - 1 that are in memory or in
 * swap, in order. The ranges cover all wanted pages and all huge pages. They may cover other pages
 * too, but most pages are not read. Returns 0, -errno of the read, or the result of `take`.
 */
int page_ranges_read(struct page_reader *r, uint64_t from, uint64_t to, wanted_fn *wanted,
		     range_fn *take, void *ctx);

/*
 * Returns the number of the page frame of a page; 0: not in memory, or the kernel does not show it,
 * which needs CAP_SYS_ADMIN when the file is opened.
 */
uint64_t page_frame(struct page_reader *r, uint64_t page);

#endif
