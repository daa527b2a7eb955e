/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The only header that both worlds include: what the kernel side hands to user space, byte for
 * byte, and what a recording holds. Records are only ever appended to: bump FS_WIRE_VERSION when
 * the layout of one changes.
 *
 * All times are nanoseconds of CLOCK_BOOTTIME for births and of CLOCK_MONOTONIC for events; all
 * sizes say their unit in their name. Counters are cumulative since the record was made.
 */
#ifndef FS_WIRE_H
#define FS_WIRE_H

#ifndef __bpf__
#include <linux/types.h>
#endif
#include "records/call_ids.h"
#include "records/fault_classes.h"
#include "records/record_kinds.h"
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

/* A process for as long as it lives: the pid as the initial namespace has it, and its birth. */
struct fs_subject {
	__u64 start_ns; /* task->start_boottime of the thread-group leader; exec keeps it */
	__u32 pid;
	__u32 pad;
};

struct fs_map_call_count {
	__u64 calls; /* that succeeded */
	__u64 refused;
	__u64 vmas_added; /* growth of mm->map_count seen at its ends */
	__u64 vmas_removed;
};

struct fs_fd_call_count {
	__u64 calls; /* descriptors made (or closed) */
	__u64 refused;
};

/* Everything that hooks count for one process. Only u64s: user space subtracts them blindly. */
struct fs_counters {
	__u64 fault_kind[NR_FAULT_KINDS];
#define FS_SINCE_1(id) __u64 id;
#define FS_SINCE_4(id)
#define FS_SINCE_8(id)
#define COUNTER(since, id, ...) FS_SINCE_##since(id)
#define UNSHOWN(since, id)	FS_SINCE_##since(id)
#include "records/counters.def"
#undef FS_SINCE_1
#undef FS_SINCE_4
	struct fs_map_call_count map_call[NR_MAP_CALLS];
	struct fs_fd_call_count fd_call[NR_FD_CALLS];
	__u64 map_size[NR_MAP_SIZES];
	__u64 stall_ns[NR_ENDS];
	__u64 latency_max_ns[NR_ENDS];
	__u64 latency[NR_ENDS][NR_LATENCY];
	__u64 end_of_version_3[0];
	__u64 served_max_ns[NR_CLASSES];
	struct fs_served served[NR_CLASSES];
#define FS_SINCE_1(id)
#define FS_SINCE_4(id)		__u64 id;
#define COUNTER(since, id, ...) FS_SINCE_##since(id)
#define UNSHOWN(since, id)	FS_SINCE_##since(id)
#include "records/counters.def"
	struct fs_waits wait[NR_WAITS];
#undef FS_SINCE_4
#undef FS_SINCE_8
#define FS_SINCE_4(id)
#define FS_SINCE_8(id) __u64 id;
#define COUNTER(since, id, ...) FS_SINCE_##since(id)
#define UNSHOWN(since, id)	FS_SINCE_##since(id)
#include "records/counters.def"
};

/* What the kernel itself knows of the process, read without stopping it. */
struct fs_gauges {
	__u64 cgroup_id; /* of the default (v2) hierarchy */
	__u64 min_flt;	 /* of all threads, dead ones too: what getrusage and /proc/PID/stat say */
	__u64 maj_flt;
	__u64 total_vm_pages;
	__u64 data_vm_pages;
	__u64 locked_vm_pages;
	__s64 rss_file_pages; /* per-CPU counters: may lag by some pages per CPU */
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	__u64 fd_soft; /* RLIMIT_NOFILE; ~0 is unlimited */
	__u64 fd_hard;
	__u64 as_limit_bytes;
	__u64 data_limit_bytes;
	__u64 memlock_limit_bytes;
	__u32 map_count;
	__u32 map_high; /* highest seen by a hook or a look */
	__u32 fds;
	__u32 fd_high; /* since the soft limit was lowered; where BORN, since its first exec */
	__u32 ppid;
	__u32 uid;
	__u32 threads;
	__u32 flags; /* PROC_* */
	__u32 execs;
	__u32 fd_base; /* where PROC_BORN: descriptors inherited */
	char comm[COMM_LEN];
};

/* The same, put into the record itself: the stack of the kernel side has no room for more. */
struct fs_usage {
	__u64 cpu_ns;		  /* of all threads, dead ones too */
	__u64 user_threads;	  /* of all processes of its user; ~0: not known */
	__u64 user_threads_limit; /* RLIMIT_NPROC; ~0: unlimited, or it does not bind */
};

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
	struct fs_counters c;
};

struct fs_header {
	__u32 kind; /* enum record_kind */
	__u32 len;  /* bytes, this header included */
	__u64 t_ns; /* CLOCK_MONOTONIC */
};

struct fs_process_record {
	struct fs_header h;
	struct fs_subject subject;
	struct fs_gauges g;
	struct fs_usage u;
	/* A look that finds no counter changed ends the record here: h.len tells. */
	struct fs_counters c;
};

struct fs_crossing_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 what; /* enum what */
	__u32 percent;
	__u64 value;
	__u64 limit;
	char comm[COMM_LEN];
};

#include "wire_refused.h"

/* A fault signal, of the access that it was sent for. */
struct fs_signal_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;
	__s32 signal;
	__s32 code;
	__u32 area; /* enum mapped: what is mapped at the address */
	__u64 address;
	__u64 sp;	  /* user stack pointer then; 0: not known */
	__u64 error_code; /* of the page fault, in the bits of x86; 0: not known */
	__u64 ip_bytes;	  /* the instruction, as far as it could be read */
	__u64 area_flags; /* VM_*, where an area was found */
	__u64 area_start; /* of the area, or of the hole where there is none */
	__u64 area_end;
	__u64 above_flags; /* of the area behind a hole, or behind one without any right */
	__u64 above_end;
	__u64 file_page; /* offset of the area in its file */
	__u64 stack_limit_bytes;
	__u64 fs_blocks; /* of tmpfs: pages that it may have; 0: no limit of its own */
	union {
		__u64 fs_blocks_used; /* the same: pages that are in use */
		__u64 file_blocks;    /* of other file systems: 512 bytes each, that the file holds
				       */
	};
	struct fs_file file;
	__u32 flags;	   /* SIGNAL_* */
	__u32 file_device; /* super_block->s_dev, MKDEV(); 0: not known */
	char comm[COMM_LEN];
};

/* A process was chosen by the OOM killer: as it was then. */
struct fs_oom_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 constraint; /* enum oom_constraint: as the kernel's log has it */
	__s32 score_adj;
	__u64 total_vm_pages;
	__s64 rss_file_pages;
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	struct fs_level memory; /* pages, of its memory cgroup */
	__u32 by;		/* pid of who asked for memory then */
	char by_comm[COMM_LEN];
	char comm[COMM_LEN];
	__u32 by_kept_pages; /* anonymous, shared and swapped of who asked; 0: not known */
};

/*
 * Faults of one class that took long, on one file, for one holder of the lock, out of one place in
 * the code: in all so far. Waits for the lock in calls and holders of it are told alike.
 */
struct fs_slow_faults_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;   /* of the last one */
	__u32 class; /* enum fault_class */
	__s32 stack; /* < 0: not known */
	__u32 pad;
	__u64 count;
	__u64 total_ns;
	__u64 max_ns;
	__u64 read_bytes;
	__u64 waited_ns[NR_WAITS];
	__u64 inode;  /* 0: no file */
	__u32 holder; /* pid of who had mmap_lock; 0: none was waited for */
	__u32 holder_writes;
	char holder_comm[COMM_LEN];
	char comm[COMM_LEN];
	char file[FILE_NAME_LEN];
};

/*
 * One of the page faults that were served, drawn by chance: it stands for `weight` of them. What
 * was mapped there is told as /proc/PID/maps would.
 */
struct fs_sample_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;
	__u32 weight;
	__u32 class; /* enum fault_class */
	__s32 stack; /* < 0: not known */
	__u64 address;
	__u64 area_from; /* [from, to); both 0: not known */
	__u64 area_to;
	__u64 took_ns;
	__u64 read_bytes; /* from disks, in it */
	__u32 kind;	  /* enum holding_kind */
	__u32 major;
	char file[FILE_NAME_LEN];
};

/* Equal ones are coalesced: of one instruction and process, probing reads of all processes. */
struct fs_kernel_fault_record {
	struct fs_header h;
	struct fs_subject subject;
	__u64 ip;
	__u64 address;
	__u64 error_code;
	__u64 count;
	__u32 nofault; /* inside copy_*_nofault: fixed up by construction */
	__u32 tid;
	char comm[COMM_LEN];
};

/* A process was born: until it execs, its program is its parent's. */
struct fs_fork_record {
	struct fs_header h;
	struct fs_subject subject;
	__u64 cgroup_id; /* as gauges have it */
	__u32 parent;	 /* pid */
	__u32 pad;
};

/* It runs another program now. */
struct fs_exec_record {
	struct fs_header h;
	struct fs_subject subject;
	__u64 cgroup_id;
	__u32 execs; /* with this one: as in its gauges */
	__u32 pad;
	char path[256]; /* as it was given to execve; of a script, its interpreter */
};

/* What a process waited for memory since this was last told. */
struct fs_pressure_record {
	struct fs_header h;
	struct fs_subject subject;
	__u64 reclaim_ns; /* direct reclaim, of the machine or of its memory cgroup */
	__u64 swap_ins;	  /* major faults of anonymous memory */
};

/* A line of the kernel's log that may be of an error report of its own. Longer ones are cut. */
struct fs_report_record {
	struct fs_header h;
	__u32 pid; /* in whose context it was written; 0: the idle task's */
	__u32 tid;
	char comm[COMM_LEN];
	char line[REPORT_LINE_LEN]; /* without the time that kernels before 5.19 have there */
};

/* A cgroup was made, or a process was moved into one of version 1. Longer paths are cut. */
struct fs_cgroup_record {
	struct fs_header h;
	__u64 id;	 /* as gauges have it */
	__u32 hierarchy; /* 0: version 2 */
	__u32 pid;	 /* 0: it was made; else who was moved */
	char path[CGROUP_PATH_LEN];
};

/*
 * What one process had from one place in its code: one call, user stack and sort of name. Of
 * mappings the growth of the map count, so that merges and splits need no model.
 */
struct fs_growth {
	struct fs_subject subject;
	__s32 stack; /* of a stack record; < 0: none was to be had */
	__u16 call;  /* enum call_id */
	__u16 what;  /* enum what */
	__u32 flags; /* FILE_* */
	__u32 mode;  /* inode->i_mode; without a file: protection and flags of mmap, GROWTH_ANON */
	__u64 magic; /* of the file system */
	__u64 added;
	__u64 removed;
	__u64 first_ns;
	__u64 last_ns;
	char name[FILE_NAME_LEN]; /* the file's own, numbers folded to "#" and fillers */
};

/* A place that is given back, and when it grew last by then. */
struct fs_spare {
	__u32 place;
	__u32 pad;
	__u64 last_ns; /* 0: it was taken, and never used */
};

/* A frame as struct bpf_stack_build_id (include/uapi/linux/bpf.h) has it. */
struct fs_frame {
	__s32 status; /* 1: build_id and offset into that file; 2: ip in place of offset */
	unsigned char build_id[20];
	__u64 offset;
};

/* A user stack, once for each process that has it: innermost first. */
struct fs_stack_record {
	struct fs_header h;
	struct fs_subject subject;
	__s32 stack;
	__u32 frames;
	__u64 caller; /* an address: who may have called the innermost; 0: not known */
	struct fs_frame frame[STACK_FRAMES];
};

/* Counted where something fell out; every output prints them. */
struct fs_losses {
	__u64 ring;	 /* records the ring had no room for */
	__u64 map;	 /* processes or coalescing entries a map had no room for */
	__u64 slot;	 /* faults whose begin could not be kept */
	__u64 coalesced; /* equal events folded into one: not lost, counted in it */
	__u64 missed;	 /* hooks that the kernel passed over: see live.c; set by user space */
	__u64 stack;	 /* user stacks that could not be kept */
	__u64 growth;	 /* growth that could not be kept apart */
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
	__u32 look_more;      /* the ring filled up during a look: drain it and look again */
	__u32 own_pid;	      /* ours, as the initial namespace has it, once own_pid() ran */
	__u32 growth_used;    /* places that were ever taken */
	__u32 growth_spared;  /* spares given back so far, by user space; wraps */
	__u32 growth_taken;   /* of them taken again; wraps */
	__u32 stacks_used;    /* stack numbers that were ever given */
	__u32 stacks_for_all; /* what stacks_used may reach; user space raises it at each look */
	__u32 stacks_for_samples; /* the same for stacks of sampled faults */
	__u32 sample_each;	  /* one fault in so many is told; a power of two; 0: none */
	__u32 sampled;		  /* so far; wraps */
	__u32 look_whole;	  /* a look tells who did not change, too */
	__u32 orphans;		  /* processes whose leader has ended, of which state is kept */
	struct fs_losses losses;
};

_Static_assert(sizeof(struct fs_header) == 16, "wire layout");
_Static_assert(sizeof(struct fs_subject) == 16, "wire layout");
_Static_assert(sizeof(struct fs_counters) % 8 == 0, "only u64s");
_Static_assert(__builtin_offsetof(struct fs_counters, wait) ==
		       8 * (24 + 44 + 44 + 32 + 4 + 64 + 15 * 14 + 4),
	       "wire layout");
_Static_assert(sizeof(struct fs_gauges) == 15 * 8 + 10 * 4 + 16, "wire layout");
_Static_assert(sizeof(struct fs_state) < 4000, "task storage stays in one slab object");

#endif
