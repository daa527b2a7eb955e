/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Part of wire.h: what is told of a page fault, and what is kept of one that is open. */
#ifndef FS_WIRE_FAULT_H
#define FS_WIRE_FAULT_H

/* Index of a page fault's kind: FS_FAULT_KERNEL | access << 1 | FS_FAULT_PROT. */
#define FS_FAULT_PROT	  1 /* the page was present: a protection fault, else not present */
#define FS_FAULT_READ	  0 /* access, shifted by one */
#define FS_FAULT_WRITE	  1
#define FS_FAULT_EXEC	  2
#define FS_FAULT_KERNEL	  8 /* the kernel faulted, on behalf of the process */
#define FS_NR_FAULT_KINDS 16

/* Latency buckets: bucket i holds [2^(i+8), 2^(i+9)) ns; the first also less, the last also more.
 */
#define FS_NR_LATENCY	 32
#define FS_LATENCY_SHIFT 8
enum fs_fault_end { FS_END_MINOR, FS_END_MAJOR, FS_NR_ENDS };

/* What a thread that needs memory does, or waits for, before it has some. */
enum fs_wait {
	FS_WAIT_RECLAIM,    /* takes it from others */
	FS_WAIT_COMPACTION, /* moves pages, to have some in one piece */
	FS_WAIT_LOCK,	    /* waits for others to let go of the address space */
	FS_WAIT_DISK,	    /* waits for a page to be read */
	FS_NR_WAITS,
};

/*
 * What served a fault, or what it was for. X(id, name, help): the name is the JSON key. What a
 * kernel does not tell apart is counted as what it is a sort of.
 */
#define FS_FAULT_CLASSES(X)                                                                        \
	X(OTHER, "other", "not told: what is mapped there was changing")                           \
	X(ANONYMOUS, "anonymous", "first write to a page of anonymous memory")                     \
	X(ZERO, "zero_page", "first read of anonymous memory: the page of zeros")                  \
	X(HUGE, "huge", "a transparent huge page")                                                 \
	X(COMPACTED, "huge_compacted", "the same, memory being compacted for it in the fault")     \
	X(COW, "copy_on_write", "write to a private page that was shared or read-only")            \
	X(FILE_MINOR, "file_minor", "a page of a file that was in memory")                         \
	X(FILE_MAJOR, "file_major", "a page of a file that was not")                               \
	X(SWAP, "swap_in", "a page read from swap")                                                \
	X(SHMEM, "shared_memory", "shared memory, tmpfs, memfd")                                   \
	X(HUGETLB, "hugetlb", "a page of the huge page pool")                                      \
	X(NUMA, "numa_hint", "a page unmapped by NUMA balancing to see who uses it")               \
	X(UFFD, "userfaultfd", "a page that a handler in user space provides")                     \
	X(DRIVER, "driver", "a driver's memory, and the kernel's own pages for programs")          \
	X(STACK, "stack_growth", "the stack grew")

enum fs_fault_class {
#define X(id, name, help) FS_CLASS_##id,
	FS_FAULT_CLASSES(X)
#undef X
		FS_NR_CLASSES,
	/* no faults, but told like slow ones: */
	FS_CLASS_CALL = FS_NR_CLASSES, /* a call that waited for the address space */
	FS_CLASS_HOLDER,	       /* one that had it while others waited */
};

/* Latency of a class: band i holds less than 2^(2i+10) ns and no less than the one before it; the
 * last also more. */
#define FS_NR_BANDS  12
#define FS_BAND_STEP 2

/* How many faults of a class were served is the sum of its bands. */
struct fs_served {
	__u64 stall_ns;
	__u64 band[FS_NR_BANDS];
};

/* Time that threads spent on something before they got what they asked for. */
struct fs_waits {
	__u64 count;
	__u64 ns;
	__u64 in_faults_ns; /* of it, within faults that were served */
};

/* A thread's page fault: open, or ended and not yet added to the figures of its process. */
struct fs_fault_slot {
	__u64 begin_ns; /* 0: none open */
	__u64 ended_ns; /* how long the last one took; 0: added, or none */
	__u32 end;	/* enum fs_fault_end: its class */
	__u32 maj_flt;	/* of its thread, where it waits to be tried again */
	__u64 tried;	/* address of one that may begin once more; 0: none */
	__u64 address;
	__u64 area_from; /* what was mapped where it last looked: [from, to) */
	__u64 area_to;
	__u64 area_version; /* of the mappings then */
	__u64 read_bytes;   /* from disks: by its thread before it began, then in it */
	__s64 known;	    /* before it began: what tells a huge page where no event does */
	__u64 numa;	    /* the same of NUMA balancing */
	__u64 lock_ns;	    /* when it began to ask for mmap_lock; 0: it does not */
	__u64 held_ns;	    /* since when it has that */
	__u64 disk_ns;	    /* when it went to sleep for a disk; 0: it does not */
	__u64 reclaim_ns;   /* when its thread began to reclaim; 0: it does not */
	__u64 wait_ns;	    /* when the wait under way began; 0: none */
	__u64 waited_ns[FS_NR_WAITS]; /* in it, by enum fs_wait */
	__u32 area;		      /* AREA_* of the kernel side */
	__u8 as[FS_NR_ENDS];	      /* enum fs_fault_class, of a minor one and of a major one */
	__u16 read_for;		      /* a class that it is of if its thread read from disks */
	__u32 holder;		      /* pid of who had mmap_lock then; 0: nobody, or not known */
	__u32 holder_writes;
	char holder_comm[16];
	__u64 no_area_bytes; /* in its call no free range of that length was found; 0: none sought
			      */
	__u32 said;	     /* FS_FACT_SAID_*, in its call */
	__u32 noted;	     /* of the two one is set */
};

#endif
