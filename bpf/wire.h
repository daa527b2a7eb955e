/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state and the settings that the kernel side shares with src/probe. The records that it sends
 * are in src/records/kernel_records.h: other rooms read them, too.
 *
 * Births are nanoseconds of CLOCK_BOOTTIME, events nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef FS_WIRE_H
#define FS_WIRE_H

#include "records/kernel_records.h"
#include "wire_fault.h"
#include "wire_maple.h"

/* How the kernel side reads a system call: one row per number in the table that the loader fills.
 */
enum fs_shape {
	FS_SHAPE_NONE,
	FS_SHAPE_MAP,	      /* 0 or an address, -errno on refusal */
	FS_SHAPE_MMAP,	      /* as MAP; arg 1 is the length */
	FS_SHAPE_MADVISE,     /* as MAP; only ENOMEM and EAGAIN are refusals */
	FS_SHAPE_BRK,	      /* the break; below what was asked is a refusal without an errno */
	FS_SHAPE_FD,	      /* a descriptor */
	FS_SHAPE_FD2,	      /* two descriptors behind a pointer */
	FS_SHAPE_DUP2,	      /* a descriptor of the caller's choice, arg 1 */
	FS_SHAPE_FCNTL,	      /* a descriptor when arg 1 is F_DUPFD or F_DUPFD_CLOEXEC */
	FS_SHAPE_CLOSE,	      /* 0 closes one */
	FS_SHAPE_CLOSE_RANGE, /* 0 closes some: counted by the descriptor count */
	FS_SHAPE_RECVMSG,     /* descriptors in SCM_RIGHTS control messages */
	FS_SHAPE_RECVMMSG,    /* the same in several; arg 1 is their vector */
	FS_SHAPE_BPF,	      /* a descriptor for some commands, arg 0 */
	FS_SHAPE_TASK,	      /* a process or thread */
	FS_SHAPE_EXEC,	      /* another program */
	FS_SHAPE_EXECAT,      /* the same, its path and arguments one further */
	FS_SHAPE_WATCH,	      /* one more of something that is counted by user */
	FS_SHAPE_RING,	      /* memory that is pinned for good */
	FS_SHAPE_RANGE,	      /* a range of mappings; only ENOMEM is a refusal */
	FS_SHAPE_SETRLIMIT,   /* a limit, of the resource that arg 0 names; EPERM */
	FS_SHAPE_PRLIMIT,     /* the same, arg 1 */
	FS_SHAPE_SELECT,      /* sets of descriptors, of as many as arg 0 says */
	FS_SHAPE_QUEUE,	      /* as FD; a message queue, whose bytes are bounded by user */
};

struct fs_syscall {
	unsigned char call;  /* enum call_id */
	unsigned char shape; /* enum fs_shape */
};
#define FS_SYSCALL_MAX 512

/* The state the kernel side keeps for a process; user space only ever makes one, zeroed but for
 * flags. */
struct fs_state {
	__u64 signature;    /* of what the last look emitted */
	__u64 start_ns;	    /* whose it is, where state is kept by pid; 0: not known yet */
	__u64 cpu_ns;	    /* of all threads by the last look, dead ones too */
	__u64 ran_ns;	    /* how long its only thread had run by the last look; 0: look closely */
	__u64 from_outside; /* hash of what others may change, by the last look */
	__s64 rss_pages;    /* resident and swapped then, folded into one figure */
	__u32 counted;	    /* a counter moved since the last look: plainly set, behind it */
	__u32 flags;	    /* PROC_*; near what each hook writes */
	__u32 threads;	    /* by the last look */
	__u32 last_map_count; /* 0: not known yet */
	__u32 map_count;
	__u32 map_high;
	__u32 fd_high;
	__u32 fds;
	__u32 marks[2]; /* by enum what: thresholds passed, so the next to test */
	__u32 execs;
	__u32 epoch;
	__u32 fd_base;
	__u32 fd_limit; /* the low half of the soft limit that fd_high was last compared with */
	__u32 pid;	/* as the initial namespace has it; 0: no look yet */
	__u32 noted;	/* notes on its threads that wait for the end of a call */
	__u32 owners;	/* descriptors of which it is kept who made them */
	__u32 stirred;	/* a counter had moved by the last look */
	__u64 min_flt;	/* of all threads, dead ones too, when they were last summed up */
	__u64 maj_flt;
	__u64 reclaim_ns; /* not yet told */
	__u64 swap_ins;	  /* not yet told */
	__u64 refused_ns; /* when a request for memory was last refused; 0: it was settled since */
	__u64 refused_bytes; /* of that request */
	__u32 refused_tid;   /* the thread that made it */
	__u32 pad;
	struct fs_fault_slot slot; /* of the leader */
	struct counters c;
};

/* A place that is given back, and when it grew last by then. */
struct fs_spare {
	__u32 place;
	__u32 pad;
	__u64 last_ns; /* 0: it was taken, and never used */
};

#define FS_NR_MARKS 3

/* Set by user space before the load: the verifier takes these for constants. */
#define FS_LOCK_SUCCESS_UNKNOWN 0
#define FS_LOCK_SUCCESS_THIRD	1
#define FS_LOCK_SUCCESS_FOURTH	2

struct fs_config {
	__u32 watch_all;     /* every process, else only the marked ones */
	__u32 time_faults;   /* tier 2: keep the begin of each fault */
	__u32 majors_alone;  /* and count the end of major ones alone */
	__u32 in_seconds;    /* latency buckets are powers of two of a second, not of a ns */
	__u32 classify;	     /* and what it is for */
	__u32 numa;	     /* there is NUMA balancing */
	__u32 huge_by_rss;   /* no event tells huge pages */
	__u64 slow_ns;	     /* from this on a fault is looked at more closely; ~0: none is */
	__u32 begins_both;   /* the begin hook sees kernel-mode faults too */
	__u32 sums_spared;   /* of many threads faults are not summed up at each look */
	__u32 smap_enforced; /* the CPU has SMAP: AC tells user copies from bad accesses */
	__u32 compat_bits;   /* thread_info bits of a 32-bit system call */
	__u64 variable[NR_VARIABLES]; /* where they are; 0: not known */
	__u32 mark_percent[FS_NR_MARKS];
	__u32 attribute; /* keep who grows; from these counts on: */
	__u32 attribute_maps;
	__u32 attribute_fds;
	__u32 samples;	     /* faults may be sampled */
	__u32 lock_success;  /* FS_LOCK_SUCCESS_*: which argument says whether mmap_lock was got */
	__u32 areas_foreign; /* the tree of mappings is laid out in a way that is not known here */
	struct fs_syscall syscalls[FS_SYSCALL_MAX];
	struct fs_syscall compat_syscalls[FS_SYSCALL_MAX]; /* of 32-bit x86 */
};

/* Read and written by both sides while running. */
struct fs_shared {
	__u64 max_map_count;
	__u32 run_parent;     /* pid whose next children are the command of `run`; 0: none */
	__u32 epoch;	      /* of the look */
	__u32 scan_again;     /* the ring filled up during a look: drain it and look again */
	__u32 own_pid;	      /* ours, as the initial namespace has it, once own_pid() ran */
	__u32 growth_used;    /* places that were ever taken */
	__u32 growth_spared;  /* spares given back so far, by user space; wraps */
	__u32 growth_taken;   /* of them taken again; wraps */
	__u32 stacks_used;    /* stack numbers that were ever given */
	__u32 stacks_for_all; /* what stacks_used may reach; user space raises it at each look */
	__u32 stacks_for_samples; /* the same for stacks of sampled faults */
	__u32 sample_each;	  /* one fault in so many is told; a power of two; 0: none */
	__u32 sampled;		  /* so far; wraps */
	__u32 scan_whole;	  /* a look tells who did not change, too */
	__u32 orphans;		  /* processes whose leader has ended, of which state is kept */
	struct losses losses;
};

_Static_assert(sizeof(struct fs_state) < 4000, "task storage stays in one slab object");

#endif
