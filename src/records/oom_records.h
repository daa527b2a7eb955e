/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: what user space adds to the record of an OOM kill, so that the kill can be explained
 * when the process and its container are gone. The values are those at the time of the kill: the
 * kernel prints them in its log just before it kills.
 */
#ifndef FS_RECORDS_OOM_RECORDS_H
#define FS_RECORDS_OOM_RECORDS_H

#include "records/pressure_records.h"

/* Kinds of records that only user space creates, in addition to enum pressure_kind. */
enum oom_record_kind {
	RECORD_OOM_SCENE = 112,
	RECORD_OOM_HOLDER,
};

/*
 * Memory of a cgroup, or of the whole machine. X(id, key of JSON, text). The first rows are kinds
 * of memory that add up; the rows of OOM_PARTS are parts of them. Append rows only: recordings
 * identify the rows by number.
 */
#define OOM_KINDS(X)                                                                               \
	X(ANON, "anonymous", "anonymous memory (heap, stack, private mappings)")                   \
	X(SHMEM, "shmem", "shared memory and tmpfs files")                                         \
	X(FILE, "file", "page cache of files")                                                     \
	X(PAGE_TABLES, "page_tables", "page tables")                                               \
	X(SLAB, "slab", "slab: kernel objects such as dentries, inodes and socket buffers")        \
	X(KERNEL_STACK, "kernel_stack", "kernel stacks of threads")                                \
	X(SOCK, "sock", "socket buffers")                                                          \
	X(OTHER_KERNEL, "other_kernel", "other kernel memory (pipes, vmalloc, per-CPU memory)")    \
	X(HUGETLB, "hugetlb", "hugetlb pages")
#define OOM_PARTS(X)                                                                               \
	X(DIRTY, "dirty", "page cache that waits to be written")                                   \
	X(WRITEBACK, "writeback", "page cache that is being written")                              \
	X(SLAB_RECLAIMABLE, "slab_reclaimable", "slab that the kernel can free")                   \
	X(UNEVICTABLE, "unevictable", "memory that is locked (mlock)")

enum oom_memory {
#define X(id, key, text) OOM_##id,
	OOM_KINDS(X)
#undef X
		NR_OOM_KINDS,
	OOM_LAST_KIND = NR_OOM_KINDS - 1,
#define X(id, key, text) OOM_##id,
	OOM_PARTS(X)
#undef X
		NR_OOM_MEMORY,
};

/* Where the values of a scene come from. */
enum oom_source {
	OOM_FROM_NOTHING,
	OOM_FROM_LOG,  /* the kernel's report of the kill */
	OOM_FROM_SCAN, /* the last scan before the kill */
};

#define OOM_CURVE_POINTS 24
#define OOM_HOLDERS	 16 /* maximum number of processes that are listed for a kill */

/* The state of the cgroup whose limit was reached, or of the machine, when a process was killed. */
struct oom_scene_record {
	struct record h;
	struct process_key subject; /* the victim */
	uint64_t kill_ns;	    /* time of the kill's record: CLOCK_MONOTONIC */
	uint64_t wall_ns;	    /* time of the kill: CLOCK_REALTIME */
	uint64_t values_ns; /* time of the values below: CLOCK_MONOTONIC; 0: there are none */
	uint32_t source;    /* where the values come from: enum oom_source */
	uint32_t in_log;    /* 1: the kernel's report was found */
	/* Values in bytes; FIGURE_UNKNOWN: not known. */
	uint64_t used, limit;		/* of the cgroup; for the machine: RAM in use, all RAM */
	uint64_t swap_used, swap_limit; /* of cgroup v1: memory and swap together */
	uint64_t memory[NR_OOM_MEMORY]; /* by enum oom_memory */
	/* Sums over the processes that the kernel listed; tasks 0: it listed none. */
	uint64_t tasks, tasks_kept_bytes, tasks_page_table_bytes;
	/* The memory in use at earlier scans; unused elements have time 0. */
	uint64_t curve_ns[OOM_CURVE_POINTS], curve_bytes[OOM_CURVE_POINTS];
	/* The memory zone that was short, on the whole machine only. */
	uint64_t zone_free, zone_min; /* free bytes, and bytes that the kernel keeps free */
	char zone[32];		      /* such as "Node 0 Normal"; empty: not known */
	char gfp[64];		      /* flags of the request, such as GFP_KERNEL */
	/* kernel functions that led to the request, innermost first, separated by blanks */
	char path[256];
	uint32_t order; /* the request was for 2^order pages */
	uint32_t pad;
	char cgroup[256];	 /* path of the cgroup whose limit was reached; empty: none */
	char victim_cgroup[256]; /* path of the victim's cgroup; empty: not known */
	/* the victim's workload; empty: not known, or not in a pod or container */
	char namespace[64], pod[128], container[128];
};

/* A process that held memory when another one was killed. */
struct oom_holder_record {
	struct record h;
	struct process_key subject; /* the victim of the kill */
	uint64_t kill_ns;	    /* as in struct oom_scene_record */
	uint32_t pid;
	uint32_t nth; /* index in the list of processes, which is sorted by memory */
	int32_t score_adj;
	uint32_t pad;
	/*
	 * Values in bytes; FIGURE_UNKNOWN: not known. The kernel lists anon, file and shmem
	 * since 6.8 (d526643928b3), before only their sum, rss.
	 */
	uint64_t rss, anon, file, shmem, swap, page_tables;
	/* anonymous, shared and swapped memory of the process at an earlier time */
	uint64_t before_bytes, before_ns; /* before_ns 0: not known */
	char comm[COMM_LEN];
	char cgroup[128]; /* path of its cgroup; empty: not known */
};

#endif
