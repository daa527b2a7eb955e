/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of wire.h: who touched the pages that are in memory. BPF programs see each fault of a chosen
 * part of all pages. For each of these pages, a map holds the last stack that made the page
 * resident. User space then reads which of these pages are still present.
 *
 * The choice depends on the page's number and two secret numbers, and not on the process: a child
 * inherits pages from its parent, and the same pages are chosen in both.
 */
#ifndef FS_WIRE_RESIDENT_H
#define FS_WIRE_RESIDENT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define FS_RESIDENT_PAGES      (1u << 17) /* maximum number of entries of the map */
#define FS_RESIDENT_WANTED     256	  /* maximum number of processes, if all are watched */
#define FS_RESIDENT_HUGE_SHIFT 9	  /* 512 pages of 4 KiB make a huge page */

/*
 * A read of a page of a file, or of shared memory, also maps pages around it: those of 64 KiB
 * (fault_around_bytes, mm/memory.c), or of a large folio. Such faults are therefore noted for all
 * pages of chosen ranges of 2 MiB, which are usually all ranges. A page without an entry belongs to
 * the nearest entry of its range.
 */
enum fs_resident_unit {
	FS_RESIDENT_PAGE, /* one page */
	FS_RESIDENT_HUGE, /* a range of 2 MiB that had no page table when the fault began */
};

struct fs_resident_key {
	__u32 pid;
	__u32 unit;   /* enum fs_resident_unit */
	__u64 number; /* page number, or number of the range of 2 MiB */
};

/* Since when pages of a process are chosen, if all processes are watched. */
enum fs_resident_since {
	FS_WANTED_SINCE_LATER, /* since user space added the process */
	FS_WANTED_SINCE_FORK,  /* since the process was forked */
};

/* How the page that is present now came to be. */
enum fs_resident_how {
	FS_RESIDENT_TOUCHED, /* nothing was there before */
	FS_RESIDENT_COPIED,  /* a write to a page that others shared made a copy */
	/*
	 * mremap() moved the page to another address: the entry holds only for children that were
	 * forked before the move
	 */
	FS_RESIDENT_LEFT,
};

struct fs_resident {
	__u64 start_ns; /* start time of the process */
	__u64 since_ns; /* time of the fault, CLOCK_MONOTONIC */
	/*
	 * FS_RESIDENT_COPIED: number of the page frame before the copy
	 * FS_RESIDENT_LEFT: time of the move, CLOCK_MONOTONIC
	 */
	__u64 frame;
	__s32 stack;	/* number of the user stack's record; < 0: no stack */
	__s32 before;	/* FS_RESIDENT_COPIED: stack that touched the page before the copy */
	__u32 how;	/* enum fs_resident_how */
	__u32 area;	/* 1: the page belongs to a file or to shared memory */
};

/* When the kernel uses huge pages: /sys/kernel/mm/transparent_hugepage/enabled. */
enum fs_resident_use {
	FS_RESIDENT_NEVER,
	FS_RESIDENT_ADVISED, /* in mappings that madvise(MADV_HUGEPAGE) marked */
	FS_RESIDENT_ALWAYS,
};

/* Settings in struct fs_config. */
struct fs_resident_config {
	__u32 on;
	__u32 huge;   /* enum fs_resident_use of huge pages for anonymous memory */
	__u32 levels; /* levels of the page table; 0: programs cannot read it */
	__u32 pad;
	__u64 zero_frame; /* number of the page frame of the zero page; ~0: not known */
	__u64 secret[2];  /* odd random numbers */
};

/*
 * Argument of a program that tests whether it finds the frame of a page of the caller. If it does
 * not, programs do not read page tables.
 */
struct fs_page_check {
	__u64 address;
	__u64 frame;
	/*
	 * Where the kernel maps all physical memory. If map_base_at is not 0, a variable at this
	 * address decides: on x86, it holds the start; on arm64, it is subtracted from map_base.
	 */
	__u64 map_base;
	__u64 map_base_at;
};

/* What read_pages() found at a page. */
enum fs_page_what {
	FS_PAGE_PRESENT = 1,
	FS_PAGE_SWAPPED = 2,
	FS_PAGE_HUGE = 4,    /* a huge page, or the part of it from this page on */
	FS_PAGE_UNKNOWN = 8, /* the entry does not say it: ask the kernel, by /proc/PID/pagemap */
	FS_PAGE_NEXT = 16,   /* no page: the last record of a run */
};

/* A record that read_pages() writes to the file of its iterator, in ascending order of pages. */
struct fs_page_read {
	__u64 page;  /* page number; FS_PAGE_NEXT: where the next run begins */
	/*
	 * Number of the page frame; 0: not in memory, or a huge page. FS_PAGE_NEXT: a number that
	 * stands for the memory of the process.
	 */
	__u64 frame;
	__u32 what;  /* FS_PAGE_* bits */
	__u32 pad;
};

/* Which pages read_pages() reads: those from number `from` to `to` - 1. */
struct fs_pages_wanted {
	__u64 from, to;
	__u64 records; /* number of records of the run so far */
};

/*
 * Returns 1 if a unit is chosen, and 0 otherwise, without a branch. Both multiplications mix the
 * number well enough that neither a stride nor an offset of a program's accesses can avoid or hit
 * the chosen pages.
 */
static inline __attribute__((always_inline)) __u32
fs_resident_chosen(const volatile __u64 secret[2], __u64 number, __u32 below)
{
	__u64 mixed = number * secret[0];

	mixed = (mixed ^ mixed >> 32) * secret[1];
	return ((mixed >> 32) - below) >> 63;
}

#endif
