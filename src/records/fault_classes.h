/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: kinds and classes of page faults, and the buckets of their latency. */
#ifndef FS_RECORDS_FAULT_CLASSES_H
#define FS_RECORDS_FAULT_CLASSES_H

/* Index of a page fault's kind: FAULT_KERNEL | access << 1 | FAULT_PROT. */
#define FAULT_PROT     1 /* set: the page was present (protection fault); clear: not present */
#define FAULT_READ     0 /* shifted by 1: FAULT_READ, FAULT_WRITE or FAULT_EXEC */
#define FAULT_WRITE    1
#define FAULT_EXEC     2
#define FAULT_KERNEL   8 /* set: a kernel-mode fault, on behalf of the process */
#define NR_FAULT_KINDS 16

/*
 * Latency bucket i counts faults that took [2^(i+8), 2^(i+9)) ns. The first bucket also counts
 * shorter ones, the last bucket longer ones.
 */
#define NR_LATENCY    32
#define LATENCY_SHIFT 8
enum fault_end { END_MINOR, END_MAJOR, NR_ENDS };

/* What a thread waits for when it needs memory. */
enum wait {
	WAIT_RECLAIM, /* direct reclaim: the thread frees pages itself */
	/* direct compaction: the thread moves pages to get physically contiguous free memory */
	WAIT_COMPACTION,
	WAIT_LOCK, /* wait for the lock of the address space, mmap_lock */
	WAIT_DISK, /* wait for a page to be read from disk */
	NR_WAITS,
};

/*
 * Classes of page faults. X(id, name, help): the name is the JSON key. A class that a kernel does
 * not distinguish is counted in a more general class.
 */
#define FAULT_CLASSES(X)                                                                           \
	X(OTHER, "other", "unknown: the mapping changed during the fault")                         \
	X(ANONYMOUS, "anonymous", "first write to a page of anonymous memory")                     \
	X(ZERO, "zero_page", "first read of anonymous memory: the page of zeros")                  \
	X(HUGE, "huge", "a transparent huge page")                                                 \
	X(COMPACTED, "huge_compacted", "a huge page, after compaction in the fault")               \
	X(COW, "copy_on_write", "write to a private page that was shared or read-only")            \
	X(FILE_MINOR, "file_minor", "a page of a file that was in memory")                         \
	X(FILE_MAJOR, "file_major", "a page of a file that was not in memory")                     \
	X(SWAP, "swap_in", "a page read from swap")                                                \
	X(SHMEM, "shared_memory", "shared memory, tmpfs, memfd")                                   \
	X(HUGETLB, "hugetlb", "a page of the huge page pool")                                      \
	X(NUMA, "numa_hint", "a page unmapped by NUMA balancing to see its users")                 \
	X(UFFD, "userfaultfd", "a page that a handler in user space provides")                     \
	X(DRIVER, "driver", "a driver's memory, and the kernel's own pages for programs")          \
	X(STACK, "stack_growth", "growth of the stack")

enum fault_class {
#define X(id, name, help) CLASS_##id,
	FAULT_CLASSES(X)
#undef X
		NR_CLASSES,
	/* The classes below are no page faults, but they are recorded like slow page faults. */
	CLASS_CALL = NR_CLASSES, /* a system call that waited for mmap_lock */
	CLASS_HOLDER,		 /* a system call that held mmap_lock while others waited */
};

/*
 * Latency band i of a class counts faults that took [2^(2i+8), 2^(2i+10)) ns. The first band also
 * counts shorter ones, the last band longer ones.
 */
#define NR_BANDS  12
#define BAND_STEP 2

#endif
