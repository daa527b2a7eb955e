/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State and settings that the kernel side shares with src/probe. The records that it sends are in
 * src/records/kernel_records.h, because other rooms read them too.
 *
 * Births are in nanoseconds of CLOCK_BOOTTIME, events in nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef FS_WIRE_H
#define FS_WIRE_H

#include "records/kernel_records.h"
#include "wire_fault.h"
#include "wire_maple.h"

/*
 * How the kernel side interprets a system call: one row per call number, in a table that the loader
 * fills.
 */
enum fs_shape {
	FS_SHAPE_NONE,
	FS_SHAPE_MAP,	  /* returns 0 or an address, or -errno */
	FS_SHAPE_MMAP,	  /* as MAP; arg 1 is the length */
	FS_SHAPE_MADVISE, /* as MAP; only ENOMEM and EAGAIN count as failed */
	/* returns the break; a lower one than requested is a failure without errno */
	FS_SHAPE_BRK,
	FS_SHAPE_FD,   /* returns a file descriptor */
	FS_SHAPE_FD2,  /* writes two file descriptors to memory */
	FS_SHAPE_DUP2, /* duplicates to the file descriptor in arg 1 */
	/* returns a file descriptor when arg 1 is F_DUPFD or F_DUPFD_CLOEXEC */
	FS_SHAPE_FCNTL,
	FS_SHAPE_CLOSE, /* closes one when it returns 0 */
	/* closes several when it returns 0; the count of open ones shows how many */
	FS_SHAPE_CLOSE_RANGE,
	FS_SHAPE_RECVMSG,   /* receives file descriptors in SCM_RIGHTS control messages */
	FS_SHAPE_RECVMMSG,  /* as RECVMSG, for a vector of messages in arg 1 */
	FS_SHAPE_BPF,	    /* returns a file descriptor for some commands in arg 0 */
	FS_SHAPE_TASK,	    /* creates a process or thread */
	FS_SHAPE_EXEC,	    /* executes another program */
	FS_SHAPE_EXECAT,    /* as EXEC, path and arguments one argument later */
	FS_SHAPE_WATCH,	    /* creates an object that is limited per user */
	FS_SHAPE_RING,	    /* pins memory */
	FS_SHAPE_RANGE,	    /* works on a range of mappings; only ENOMEM counts as failed */
	FS_SHAPE_SETRLIMIT, /* sets the limit of the resource in arg 0; EPERM counts as failed */
	FS_SHAPE_PRLIMIT,   /* as SETRLIMIT, with the resource in arg 1 */
	FS_SHAPE_SELECT,    /* reads sets of file descriptors; arg 0 is their size */
	FS_SHAPE_QUEUE,	    /* as FD; a message queue, whose bytes are limited per user */
};

struct fs_syscall {
	unsigned char call;  /* enum call_id */
	unsigned char shape; /* enum fs_shape */
};
#define FS_SYSCALL_MAX 512

/*
 * The state that the kernel side keeps for a process. User space only creates it, zeroed except for
 * flags.
 */
struct fs_state {
	__u64 signature;    /* hash of what the last scan sent */
	__u64 start_ns;	    /* birth of its process, where state is kept by pid; 0: not known yet */
	__u64 cpu_ns;	    /* of all threads at the last scan, dead ones too */
	__u64 ran_ns;	    /* run time of its only thread at the last scan; 0: scan completely */
	__u64 from_outside; /* hash of what other processes may change, at the last scan */
	__s64 rss_pages;    /* resident plus swapped pages at the last scan */
	__u32 counted;	    /* a counter changed since the last scan; set after the change */
	__u32 flags;	    /* PROC_*; near the fields that each probe writes */
	__u32 threads;	    /* at the last scan */
	__u32 last_map_count; /* 0: not known yet */
	__u32 map_count;
	__u32 map_high;
	__u32 fd_high;
	__u32 fds;
	/* by enum what: number of crossed thresholds, so the index of the next one */
	__u32 marks[2];
	__u32 execs;
	__u32 epoch;
	__u32 fd_base;
	__u32 fd_limit; /* low half of the soft limit that fd_high was last compared with */
	__u32 pid;	/* in the initial pid namespace; 0: not scanned yet */
	__u32 noted;	/* threads with a note that waits for the end of a call */
	__u32 owners;	/* open file descriptors whose creator is recorded */
	__u32 stirred;	/* a counter had changed at the last scan */
	__u64 min_flt;	/* of all threads, dead ones too, at the last sum */
	__u64 maj_flt;
	__u64 reclaim_ns; /* not yet sent */
	__u64 swap_ins;	  /* not yet sent */
	/* when a request for memory last failed; 0: none, or repeated with success since */
	__u64 refused_ns;
	__u64 refused_bytes; /* size of that request */
	__u32 refused_tid;   /* thread that made it */
	__u32 pad;
	struct fs_fault_slot slot; /* of the leader */
	struct counters c;
};

/* An entry of `growth` that user space releases. */
struct fs_spare {
	__u32 place;
	__u32 pad;
	__u64 last_ns; /* last growth at that time; 0: the entry was never used */
};

#define FS_NR_MARKS 3

/* Set by user space before the load: the verifier treats these as constants. */
#define FS_LOCK_SUCCESS_UNKNOWN 0
#define FS_LOCK_SUCCESS_THIRD	1
#define FS_LOCK_SUCCESS_FOURTH	2

struct fs_config {
	__u32 watch_all;    /* watch every process, else only the marked ones */
	__u32 time_faults;  /* overhead level 2: note the begin of each fault */
	__u32 majors_alone; /* count the end of major faults only */
	__u32 in_seconds;   /* latency buckets are powers of two of a second, not of a ns */
	__u32 classify;	    /* determine the class of each fault */
	__u32 numa;	    /* the kernel has NUMA balancing */
	__u32 huge_by_rss;  /* no event shows huge pages: detect them by the resident size */
	__u64 slow_ns;	    /* a fault of this length or longer is slow; ~0: none is */
	__u32 begins_both;  /* the begin probe sees kernel-mode faults too */
	__u32 sums_spared;  /* do not sum faults of many threads at each scan */
	/* the CPU has SMAP: EFLAGS.AC separates user copies from bad accesses */
	__u32 smap_enforced;
	__u32 compat_bits;	      /* thread_info bits of a 32-bit system call */
	__u64 variable[NR_VARIABLES]; /* addresses; 0: not known */
	__u32 mark_percent[FS_NR_MARKS];
	__u32 attribute; /* record growth, from these counts on: */
	__u32 attribute_maps;
	__u32 attribute_fds;
	__u32 samples; /* faults may be sampled */
	/* FS_LOCK_SUCCESS_*: the argument that says whether mmap_lock was acquired */
	__u32 lock_success;
	__u32 areas_foreign; /* the tree of mappings has an unknown layout */
	struct fs_syscall syscalls[FS_SYSCALL_MAX];
	struct fs_syscall compat_syscalls[FS_SYSCALL_MAX]; /* for 32-bit calls of x86 */
};

/* Read and written by both sides while programs run. */
struct fs_shared {
	__u64 max_map_count;
	__u32 run_parent;     /* pid whose next children are the command of `run`; 0: none */
	__u32 epoch;	      /* number of the scan */
	__u32 scan_again;     /* the ring filled up during a scan: drain it and scan again */
	__u32 own_pid;	      /* faultscope's pid in the initial namespace, once own_pid() ran */
	__u32 growth_used;    /* entries that were ever used */
	__u32 growth_spared;  /* entries that user space released so far; wraps */
	__u32 growth_taken;   /* released entries that were reused; wraps */
	__u32 stacks_used;    /* stack numbers that were ever assigned */
	__u32 stacks_for_all; /* limit of stacks_used; user space raises it at each scan */
	__u32 stacks_for_samples; /* the same for stacks of sampled faults */
	__u32 sample_each;	  /* one fault of so many is sampled; a power of two; 0: none */
	__u32 sampled;		  /* so far; wraps */
	__u32 scan_whole;	  /* the scan also sends processes that did not change */
	__u32 orphans;		  /* processes whose leader has exited, and whose state is kept */
	struct losses losses;
};

_Static_assert(sizeof(struct fs_state) < 4000, "task storage stays in one slab object");

#endif
