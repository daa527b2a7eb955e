/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State and settings that BPF programs share with src/probe. The records that BPF programs send are
 * in src/records/kernel_records.h, because other directories read them too.
 *
 * Start times of processes are nanoseconds of CLOCK_BOOTTIME, event times of CLOCK_MONOTONIC.
 */
#ifndef FS_WIRE_H
#define FS_WIRE_H

#include "records/kernel_records.h"
#include "wire_maple.h"
#include "wire_python.h"
#include "wire_resident.h"
#include "wire_state.h"
#include "wire_unwind.h"

/*
 * How the BPF programs interpret the arguments and the result of a system call. The loader fills a
 * table with one row per call number.
 */
enum fs_shape {
	FS_SHAPE_NONE,
	FS_SHAPE_MAP,	  /* the call returns 0, an address, or -errno */
	FS_SHAPE_MMAP,	  /* the result is as for FS_SHAPE_MAP; argument 1 is the length */
	FS_SHAPE_MADVISE, /* as FS_SHAPE_MAP, but only ENOMEM and EAGAIN count as failed */
	/* brk returns the break; if lower than requested, the call failed without errno */
	FS_SHAPE_BRK,
	FS_SHAPE_FD,   /* the call returns an fd */
	FS_SHAPE_FD2,  /* the call writes two file descriptors to memory */
	FS_SHAPE_DUP2, /* the call duplicates an fd to the number in argument 1 */
	/* fcntl returns an fd if argument 1 is F_DUPFD or F_DUPFD_CLOEXEC */
	FS_SHAPE_FCNTL,
	FS_SHAPE_CLOSE, /* the call closes one fd if the result is 0 */
	/* the call closes several fds if the result is 0; the next scan counts the open ones */
	FS_SHAPE_CLOSE_RANGE,
	FS_SHAPE_RECVMSG,   /* the call receives fds in SCM_RIGHTS control messages */
	FS_SHAPE_RECVMMSG,  /* as FS_SHAPE_RECVMSG, for an array of messages in argument 1 */
	FS_SHAPE_BPF,	    /* the call returns an fd for some commands in argument 0 */
	FS_SHAPE_TASK,	    /* the call creates a process or thread */
	FS_SHAPE_TASK3,	    /* as FS_SHAPE_TASK, but argument 0 is the address of the flags */
	FS_SHAPE_EXEC,	    /* the call executes another program */
	FS_SHAPE_EXECAT,    /* as FS_SHAPE_EXEC, but path, argv and envp are one argument later */
	FS_SHAPE_WATCH,	    /* the call creates an object that is limited per user */
	FS_SHAPE_RING,	    /* the call pins memory of the caller */
	FS_SHAPE_RANGE,	    /* the call is on a range of mappings; only ENOMEM counts as failed */
	FS_SHAPE_SETRLIMIT, /* the call sets the limit in argument 0; EPERM counts as failed */
	FS_SHAPE_PRLIMIT,   /* as FS_SHAPE_SETRLIMIT, for the limit in argument 1 */
	FS_SHAPE_SELECT,    /* the call reads sets of fds; argument 0 is their size in bits */
	FS_SHAPE_QUEUE,	    /* as FS_SHAPE_FD, for message queues, limited in bytes per user */
	FS_SHAPE_SPACE,	    /* the call needs space in the file of argument 0 */
	FS_SHAPE_SPACE2,    /* as FS_SHAPE_SPACE, for the file of argument 2 */
	FS_SHAPE_SPACE_AT,  /* as FS_SHAPE_SPACE, at the position in argument 3 */
	FS_SHAPE_SPACE_AT2, /* as FS_SHAPE_SPACE_AT; argument 5 has flags */
	FS_SHAPE_IPC,	    /* the call creates a System V IPC object */
	FS_SHAPE_OBJECT, /* the call creates an object, and a limit counts such objects */
	FS_SHAPE_AGAIN,	 /* as FS_SHAPE_OBJECT, but the call returns EAGAIN at the limit */
	FS_SHAPE_SEND,	 /* the call sends messages, which may pass fds */
	FS_SHAPE_LENGTH, /* an argument of the call must not be above a limit */
	FS_SHAPE_SHMCTL, /* the call locks a segment if argument 1 is SHM_LOCK */
	FS_SHAPE_DEVICE,    /* the call is a request to the driver of the file of argument 0 */
};

struct fs_syscall {
	unsigned char call;  /* kind of call: enum call_id */
	unsigned char shape; /* form of arguments and result: enum fs_shape */
};
#define FS_SYSCALL_MAX 512

/* An entry of `growth` that user space has released. */
struct fs_spare {
	__u32 place;
	__u32 pad;
	__u64 last_ns; /* last_ns of the entry when it was released; 0: the entry was never used */
};

/*
 * RECORD_PACKED_WALK: a struct walk_record with less room. `data` has `room` elements of `ip`, as
 * many of `sp`, and `python_room` elements of `python`.
 */
struct fs_packed_walk {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 frames;
	__u32 end;
	__u32 by_chain;
	__u32 generation;
	__u32 pad;
	__u64 interrupted[WALK_FRAMES / 64];
	__u32 pythons;
	__u32 python_cut;
	__u32 room;
	__u32 python_room;
	unsigned char data[];
};

#define FS_NR_MARKS 3

/* Number of counters of process entries in the hash-table build; a power of two. */
#define FS_ENTRIES_NEAR 1024

/* struct fs_config is set before the load: the verifier treats its members as constants. */
#define FS_LOCK_SUCCESS_UNKNOWN 0
#define FS_LOCK_SUCCESS_THIRD	1
#define FS_LOCK_SUCCESS_FOURTH	2

struct fs_config {
	__u32 watch_all;    /* 1: watch all processes; 0: only those with PROC_WATCHED */
	__u32 time_faults;  /* 1: overhead level 2 is enabled, so store the start of each fault */
	__u32 majors_alone; /* 1: measure the end of major faults only; 0: of all faults */
	__u32 files_begin;  /* 1: faults of files begin at mm_filemap_fault; 0: at the exception */
	__u32 in_seconds;   /* 1: latency buckets end at 2^n s; 0: at 2^n ns */
	__u32 classify;	    /* 1: determine the class of each fault; 0: count no classes */
	__u32 numa;	    /* 1: the kernel has NUMA balancing; 0: it has not */
	__u32 huge_by_rss;  /* 1: detect huge pages by RSS, as no event shows them; 0: do not */
	/* 1: measure disk waits by the scheduler's counters; 0: by its tracepoints, or not */
	__u32 disk_by_counters;
	__u64 slow_ns;	    /* minimum duration of a slow fault; ~0: no fault is slow */
	__u32 begins_both;  /* 1: probe fault_begin also sees kernel-mode faults; 0: it does not */
	/* 1: a scan may reuse the last sums over many threads; 0: it sums again */
	__u32 sums_spared;
	/* The CPU has SMAP: EFLAGS.AC separates user copies from bad accesses. */
	__u32 smap_enforced;
	__u32 compat_bits; /* thread_info bits that show a 32-bit system call */
	__u32 mark_percent[FS_NR_MARKS];
	/* record growth of processes that have attribute_maps mappings or attribute_fds fds */
	__u32 attribute;
	__u32 attribute_maps;
	__u32 attribute_fds;
	__u32 samples;	  /* page faults may be sampled: see sample_each */
	__u32 ring_bytes; /* size of the ring buffer, a power of two */
	/* Position of the argument `success` of mmap_lock_acquire_returned: FS_LOCK_SUCCESS_*. */
	__u32 lock_success;
	/* 1: the maple tree has a layout that faultscope does not know; 0: known */
	__u32 areas_foreign;
	/* 1: a clone() that fails may free task storage: see freed_state.bpf.h; 0: it does not */
	__u32 clones_free_storage;
	struct fs_resident_config resident;
	/* ids in the kernel's BTF: struct task_struct, vm_area_struct, file, maple_range_64 */
	__u32 task_type;
	__u32 area_type;
	__u32 file_type;
	__u32 maple_type;
	struct fs_syscall syscalls[FS_SYSCALL_MAX];
	struct fs_syscall compat_syscalls[FS_SYSCALL_MAX]; /* table for 32-bit calls of x86 */
	/* 1: only failures of the call matter, in both tables; 0: each call matters */
	unsigned char failures_only[FS_SYSCALL_MAX];
};

/* User space and BPF programs both read and write struct fs_shared while the programs run. */
struct fs_shared {
	__u64 max_map_count;
	__u32 run_parent; /* pid whose next children `faultscope run` watches; 0: none */
	__u32 epoch;	  /* number of the current scan */
	/* 1: the ring filled up during a scan; drain the ring, scan again */
	__u32 scan_again;
	__u32 scanned;		  /* 1: the first scan is complete, so each process has state */
	__u32 own_pid;		  /* faultscope's pid in the initial namespace, set by own_pid() */
	__u32 growth_used;	  /* number of entries of `growth` that were used at least once */
	__u32 growth_spared;	  /* number of releases of entries by user space; wraps */
	__u32 growth_taken;	  /* number of released entries that were reused; wraps */
	__u32 stacks_used;	  /* number of stack numbers that were assigned since the start */
	__u32 stacks_for_all;	  /* maximum of stacks_used; user space raises it at each scan */
	__u32 stacks_for_samples; /* maximum of stacks_used for stacks of sampled faults */
	__u32 sample_each;	  /* one of this many faults is sampled, a power of two; 0: none */
	__u32 sampled;		  /* number of sampled faults; wraps around to 0 */
	__u32 woken;		  /* 1: the reader was woken; it sets 0 before it reads */
	__u32 scan_whole;	  /* scans also send processes that did not change */
	__u32 exits_wake;	  /* 1: each last record of a process wakes the reader */
	__u32 has_swap;		  /* 1: the machine has swap space; 0: it has none */
	__u32 orphans;		  /* number of entries of the map `orphans` */
	__u32 copy_s;		  /* second in which the last user stack was copied */
	__u32 copies;		  /* number of user stacks that were copied in this second */
	/*
	 * A page, and a range of 2 MiB of a file, is chosen if its hash is below this number: see
	 * fs_resident_chosen().
	 */
	__u32 resident_below;
	__u32 resident_ranges_below;
	__u64 resident_map_base; /* where the kernel maps all memory; 0: not known */
	struct fs_pages_wanted resident_read; /* for the next run of read_pages() */
	__u32 resident_lost;	 /* number of pages for which the map `resident` had no room */
	/* number of elements of task storage that exist, by enum fs_stored */
	__u32 stored[FS_STORED_MAX];
	/* addresses of kernel variables; 0: not known; set before the probe `calls` is attached */
	__u64 variable[NR_VARIABLES];
	/* number of stack walks with unwind tables, by enum stack_end */
	__u64 walk_ends[STACK_ENDS_MAX];
	struct losses losses;
	/* number of entries of `procs` for pids with these low bits (only the hash-table build) */
	__u32 entries_near[FS_ENTRIES_NEAR];
};

#endif
