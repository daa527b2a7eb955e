/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: the records that the kernel side creates and user space reads. Both use these
 * definitions.
 *
 * Births are in nanoseconds of CLOCK_BOOTTIME, events in nanoseconds of CLOCK_MONOTONIC. The name
 * of every size has its unit. Counters start at 0 when the process is first seen.
 */
#ifndef FS_RECORDS_KERNEL_RECORDS_H
#define FS_RECORDS_KERNEL_RECORDS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "records/call_ids.h"
#include "records/fault_classes.h"
#include "records/record_kinds.h"

/* Identifies a process: its pid in the initial namespace, and its birth. */
struct process_key {
	__u64 start_ns; /* task->start_boottime of the thread-group leader; exec keeps it */
	__u32 pid;
	__u32 pad;
};

struct map_call_count {
	__u64 calls; /* successful calls */
	__u64 refused;
	__u64 vmas_added; /* increase of mm->map_count at the ends of calls */
	__u64 vmas_removed;
};

struct fd_call_count {
	__u64 calls; /* descriptors created or closed */
	__u64 refused;
};

/* Handled faults of one class. Their number is the sum of the bands. */
struct served_class {
	__u64 stall_ns;
	__u64 band[NR_BANDS];
};

/* Time that threads waited before they got what they requested. */
struct waits {
	__u64 count;
	__u64 ns;
	__u64 in_faults_ns; /* part of `ns` that was within handled faults */
};

/* All that probes count for one process. It has only u64s: user space subtracts them by index. */
struct counters {
	__u64 fault_kind[NR_FAULT_KINDS];
#define COUNTER(id, ...) __u64 id;
#define UNSHOWN(id)	 __u64 id;
#include "records/counters.def"
	struct map_call_count map_call[NR_MAP_CALLS];
	struct fd_call_count fd_call[NR_FD_CALLS];
	__u64 map_size[NR_MAP_SIZES];
	__u64 stall_ns[NR_ENDS];
	__u64 latency_max_ns[NR_ENDS];
	__u64 latency[NR_ENDS][NR_LATENCY];
	__u64 served_max_ns[NR_CLASSES];
	struct served_class served[NR_CLASSES];
	struct waits wait[NR_WAITS];
};

/* Values that the kernel itself keeps for the process, read without stopping it. */
struct gauges {
	__u64 cgroup_id; /* in the default (v2) hierarchy */
	__u64 min_flt;	 /* of all threads, dead ones too, as in getrusage and /proc/PID/stat */
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
	__u32 map_high; /* highest value that a probe or scan saw */
	__u32 fds;
	/* peak since the soft limit was lowered; with PROC_BORN, since the first exec */
	__u32 fd_high;
	__u32 ppid;
	__u32 uid;
	__u32 threads;
	__u32 flags; /* PROC_* */
	__u32 execs;
	__u32 fd_base; /* with PROC_BORN: inherited descriptors */
	char comm[COMM_LEN];
};

/* More gauges. They are written directly into the record: the kernel side's stack has no room. */
struct usage {
	__u64 cpu_ns;		  /* of all threads, dead ones too */
	__u64 user_threads;	  /* of all processes of its user; ~0: not known */
	__u64 user_threads_limit; /* RLIMIT_NPROC; ~0: unlimited, or it does not apply */
};

struct record {
	__u32 kind; /* enum record_kind */
	__u32 len;  /* bytes of the struct, this header included */
	__u64 t_ns; /* CLOCK_MONOTONIC */
	/* bytes behind the struct: fields of a recording that this version does not know */
	__u32 extra;
	__u32 pad;
};

struct process_record {
	struct record h;
	struct process_key subject;
	struct gauges g;
	struct usage u;
	/* When a scan finds no counter changed, the record ends here: see h.len. */
	struct counters c;
};

struct crossing_record {
	struct record h;
	struct process_key subject;
	__u32 what; /* enum what */
	__u32 percent;
	__u64 value;
	__u64 limit;
	char comm[COMM_LEN];
};

struct address_range {
	__u64 hole;	    /* first address without a mapping; ~0: none */
	__u64 start;	    /* first VMA that is not as requested, and before a hole */
	__u64 end;	    /* its end; both 0: none */
	__u64 flags_all;    /* VM_* bits that every VMA of the range has */
	__u64 flags_any;    /* VM_* bits that some VMA has */
	__u64 above;	    /* start of the first VMA that prevents growth; 0: none */
	__u64 mapped_bytes; /* within the range */
	__u64 locked_bytes; /* part of mapped_bytes that is locked */
	__u64 start_flags;  /* VM_* bits of the VMA at `start` */
	__u32 vmas;	    /* 1: the range has a VMA */
	__u32 walk;	    /* enum walk: whether the whole range was read */
};

/* The file behind a descriptor. */
struct file_facts {
	__u64 magic;	  /* of its file system: linux/magic.h */
	__u64 size_bytes; /* of the inode */
	__u64 mmap_ip;	  /* address of its mmap method: identifies the driver */
	__u32 flags;	  /* FILE_* */
	__u32 mode;	  /* inode->i_mode */
	__u32 open_mode;  /* file->f_mode: FMODE_* of include/linux/fs.h */
	__u32 seals;	  /* F_SEAL_* of a memfd */
	char name[FILE_NAME_LEN];
};

/* The level of a cgroup hierarchy that has the least room. */
struct level_room {
	__u64 used;
	__u64 limit; /* ~0: no level has a limit */
	__u32 up;    /* how many levels above the process's own cgroup */
	__u32 known;
};

/* Counts of a user in its user namespace; ~0: not known. */
struct user_counts {
	__u64 processes;	 /* limited by RLIMIT_NPROC */
	__u64 inotify_instances; /* for fanotify_init the number of groups, since 5.13 */
	__u64 inotify_instances_max;
	__u64 inotify_watches;
	__u64 inotify_watches_max;
	__u64 pipe_pages;
	__u64 locked_pages; /* by io_uring, perf and others: counted per user, not per process */
};

/* Size of a request that is not among the arguments of the call. */
struct asked {
	/*
	 * segment of shmat; strings and pointers of execve; buffers of io_uring; messages of
	 * mq_open
	 */
	__u64 bytes;
	__u64 longest; /* longest string of execve, with its NUL; for mq_open RLIMIT_MSGQUEUE */
	__u32 whole;   /* everything was read */
	__u32 pad;
};

/*
 * A successful retry: mmap, mremap or brk failed, and the same thread got at least 1.5 times as
 * much by mmap or mremap within RETRY_NS. It follows the record of the failed call.
 */
struct retry_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u16 call; /* enum call_id of the successful call */
	__u16 pad;
	__u64 bytes; /* requested size */
};

/* A failed call, with the state at that moment. */
struct refused_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u16 call;  /* enum call_id */
	__u16 error; /* errno; 0 for brk and recvmsg, which return none */
	__u64 count; /* equal failures (process, call, errno, facts) so far, this one included */
	__u64 args[6];
	__s64 ret;
	__u64 total_vm_pages;
	__u64 data_vm_pages;
	__u64 locked_vm_pages;
	__u64 heap_bytes; /* brk - start_brk + end_data - start_data: limited by RLIMIT_DATA */
	__u64 task_size_bytes;
	__u64 as_limit_bytes;
	__u64 data_limit_bytes;
	__u64 memlock_limit_bytes;
	__u64 stack_limit_bytes;
	__u64 nproc_limit;
	__u64 fd_soft;
	__u64 area_bytes; /* length of a free range that was not found; 0: no search failed */
	struct address_range range;
	struct asked asked;
	struct file_facts file;
	struct level_room memory; /* pages of the memory cgroup */
	struct level_room pids;
	struct user_counts user;
	__u64 variable[NR_VARIABLES];
	__u32 variables; /* bit i: variable[i] is known */
	__u32 map_count;
	__u32 fds;	/* open file descriptors; ~0: not counted */
	__u32 fds_free; /* free numbers that the call could have used; ~0: not counted */
	__u32 facts;	/* FACT_* */
	__s32 stack;	/* number of a stack record; < 0: none */
	char comm[COMM_LEN];
};

/* A fatal signal, and the memory access that caused it. */
struct signal_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__s32 signal;
	__s32 code;
	__u32 area; /* enum mapped: whether the address is mapped */
	__u64 address;
	__u64 sp;	  /* user stack pointer at that time; 0: not known */
	__u64 error_code; /* of the page fault, in x86 bits; 0: not known */
	__u64 ip_bytes;	  /* bytes of the instruction, as far as readable */
	__u64 area_flags; /* VM_* of the mapping, if there is one */
	__u64 area_start; /* of the mapping, or of the hole */
	__u64 area_end;
	/* VM_* of the mapping behind the hole, or behind a mapping without access rights */
	__u64 above_flags;
	__u64 above_end;
	__u64 file_page; /* offset of the area in its file */
	__u64 stack_limit_bytes;
	__u64 tmpfs_pages; /* tmpfs: size limit in pages; 0: none of its own */
	union {
		__u64 tmpfs_pages_used; /* tmpfs: pages in use */
		__u64 file_blocks;	/* other file systems: allocated blocks of 512 bytes */
	};
	struct file_facts file;
	__u32 flags;	   /* SIGNAL_* */
	__u32 file_device; /* super_block->s_dev, MKDEV(); 0: not known */
	char comm[COMM_LEN];
};

/* A process that the OOM killer chose, with its state at that time. */
struct oom_record {
	struct record h;
	struct process_key subject;
	__u32 constraint; /* enum oom_constraint, as in the kernel's log */
	__s32 score_adj;
	__u64 total_vm_pages;
	__s64 rss_file_pages;
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	struct level_room memory; /* pages of its memory cgroup */
	__u32 by;		  /* pid that requested memory */
	char by_comm[COMM_LEN];
	char comm[COMM_LEN];
	__u32 by_kept_pages; /* anonymous, shared and swapped pages of `by`; 0: not known */
};

/*
 * Slow faults of one class on one file, with one lock holder, from one place in the code: totals so
 * far. Waits for mmap_lock in calls, and its holders, have the same record.
 */
struct slow_faults_record {
	struct record h;
	struct process_key subject;
	__u32 tid;   /* thread of the last one */
	__u32 class; /* enum fault_class */
	__s32 stack; /* < 0: not known */
	__u32 pad;
	__u64 count;
	__u64 total_ns;
	__u64 max_ns;
	__u64 read_bytes;
	__u64 waited_ns[NR_WAITS];
	__u64 inode;  /* 0: no file */
	__u32 holder; /* pid that held mmap_lock; 0: nobody was waited for */
	__u32 holder_writes;
	char holder_comm[COMM_LEN];
	char comm[COMM_LEN];
	char file[FILE_NAME_LEN];
};

/*
 * One randomly sampled page fault, which represents `weight` faults. Its mapping is described as in
 * /proc/PID/maps.
 */
struct sample_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u32 weight;
	__u32 class; /* enum fault_class */
	__s32 stack; /* < 0: not known */
	__u64 address;
	__u64 area_from; /* [from, to); both 0: not known */
	__u64 area_to;
	__u64 took_ns;
	__u64 read_bytes; /* read from disks during the fault */
	__u32 kind;	  /* enum holding_kind */
	__u32 major;
	char file[FILE_NAME_LEN];
};

/*
 * A bad access in kernel mode. Equal ones are coalesced: one instruction and process; for probing
 * reads all processes.
 */
struct kernel_fault_record {
	struct record h;
	struct process_key subject;
	__u64 ip;
	__u64 address;
	__u64 error_code;
	__u64 count;
	__u32 nofault; /* within copy_*_nofault(), which always recovers */
	__u32 tid;
	char comm[COMM_LEN];
};

/* A process was created. Until it execs, it runs its parent's program. */
struct fork_record {
	struct record h;
	struct process_key subject;
	__u64 cgroup_id; /* as in gauges */
	__u32 parent;	 /* pid */
	__u32 pad;
};

/* The process executes another program. */
struct exec_record {
	struct record h;
	struct process_key subject;
	__u64 cgroup_id;
	__u32 execs; /* as in its gauges, this one included */
	__u32 pad;
	char path[256]; /* as given to execve; for a script, its interpreter */
};

/* Waits of a process for memory since the last such record. */
struct memory_wait_record {
	struct record h;
	struct process_key subject;
	__u64 reclaim_ns; /* direct reclaim, for the machine or its memory cgroup */
	__u64 swap_ins;	  /* major faults of anonymous memory */
};

/* A line of the kernel's log that may belong to an error report. Longer lines are cut. */
struct report_record {
	struct record h;
	__u32 pid; /* process in whose context it was logged; 0: the idle task */
	__u32 tid;
	char comm[COMM_LEN];
	char line[REPORT_LINE_LEN]; /* without the time stamp that kernels before 5.19 include */
};

/* A cgroup was created, or a process moved into a v1 cgroup. Longer paths are cut. */
struct cgroup_path_record {
	struct record h;
	__u64 id;	 /* as in gauges */
	__u32 hierarchy; /* 0: version 2 */
	__u32 pid;	 /* 0: the cgroup was created; else the process that moved */
	char path[CGROUP_PATH_LEN];
};

/*
 * Growth of one process by one call, user stack and folded name. For mappings it is growth of the
 * map count, so merged and split mappings need no special handling.
 */
struct growth {
	struct process_key subject;
	__s32 stack; /* number of a stack record; < 0: none */
	__u16 call;  /* enum call_id */
	__u16 what;  /* enum what */
	__u32 flags; /* FILE_* */
	__u32 mode;  /* inode->i_mode; without a file: protection and flags of mmap, GROWTH_ANON */
	__u64 magic; /* of the file system */
	__u64 added;
	__u64 removed;
	__u64 first_ns;
	__u64 last_ns;
	char name[FILE_NAME_LEN]; /* file name; digits are replaced by "#" and fillers */
};

/* A frame, with the layout of struct bpf_stack_build_id (include/uapi/linux/bpf.h). */
struct stack_frame {
	__s32 status; /* 1: build_id and offset in that file; 2: an address instead of the offset */
	unsigned char build_id[20];
	__u64 offset;
};

/* A user stack, sent once for each process that has it; innermost frame first. */
struct stack_record {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 frames;
	__u64 caller; /* address that may have called the innermost function; 0: not known */
	struct stack_frame frame[STACK_FRAMES];
};

/* Counters of lost data; every output shows them. */
struct losses {
	__u64 ring;	 /* records that did not fit into the ring */
	__u64 map;	 /* processes or coalescing entries that did not fit into a map */
	__u64 slot;	 /* faults whose begin was not stored */
	__u64 coalesced; /* equal events that were merged: not lost, but counted */
	__u64 missed;	 /* probe runs that the kernel skipped: see live.c; set by user space */
	__u64 stack;	 /* user stacks that were not stored */
	__u64 growth;	 /* growth that was not stored separately */
};

_Static_assert(sizeof(struct counters) % 8 == 0, "only u64s");

#endif
