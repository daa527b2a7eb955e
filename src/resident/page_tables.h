/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: reads which chosen pages of a process are in memory or in swap, by a BPF program that
 * reads the page table without a lock (bpf/resident_read.bpf.h). The process never waits for it.
 */
#ifndef FS_RESIDENT_PAGE_TABLES_H
#define FS_RESIDENT_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct page_tables {
	int program; /* read_pages(); < 0: it cannot be used */
	struct fs_shared *shared;
};

/* Receives a page or a huge page. Returns 0, or -errno to stop. */
typedef int page_fn(void *ctx, const struct fs_page_read *page);

/*
 * Returns whether pages can be read in this way: BPF programs can read page tables here (see
 * probe/page_table.h), and iterators can be limited to one task (f0d74c4da1f0, 6.1).
 */
bool page_tables_usable(const struct page_tables *t);

/*
 * Calls `take` for the chosen pages from number `from` to `to` - 1, and for all huge pages, in
 * ascending order. The main thread of the process must be alive: the iterator finds no other one
 * (task_seq_get_next(), kernel/bpf/task_iter.c). *memory stands for the memory of the process: if
 * it is 0, it is set; if the process has other memory since (exec), nothing is read. Returns 0,
 * -ESRCH: the process has ended or has other memory, -errno of the read, or the result of `take`.
 */
int page_tables_read(const struct page_tables *t, uint32_t pid, uint64_t from, uint64_t to,
		     uint64_t *memory, page_fn *take, void *ctx);

#endif
