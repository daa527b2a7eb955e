/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: the records that the kernel side makes. It fills these structs, and user space reads
 * them: there is one definition of each.
 *
 * Births are nanoseconds of CLOCK_BOOTTIME, events nanoseconds of CLOCK_MONOTONIC. Every size has
 * its unit in its name. Counters start at 0 when the process is first seen.
 */
#ifndef FS_RECORDS_KERNEL_RECORDS_H
#define FS_RECORDS_KERNEL_RECORDS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "records/call_ids.h"
#include "records/fault_classes.h"
#include "records/record_kinds.h"

/* A process for as long as it lives: the pid as the initial namespace has it, and its birth. */
struct process_key {
	__u64 start_ns; /* task->start_boottime of the thread-group leader; exec keeps it */
	__u32 pid;
	__u32 pad;
};

struct map_call_count {
	__u64 calls; /* that succeeded */
	__u64 refused;
	__u64 vmas_added; /* growth of mm->map_count seen at its ends */
	__u64 vmas_removed;
};

struct fd_call_count {
	__u64 calls; /* descriptors made (or closed) */
	__u64 refused;
};

/* How many faults of a class were served is the sum of its bands. */
struct served_class {
	__u64 stall_ns;
	__u64 band[NR_BANDS];
};

/* Time that threads spent on something before they got what they asked for. */
struct waits {
	__u64 count;
	__u64 ns;
	__u64 in_faults_ns; /* of it, within faults that were served */
};

/* Everything that hooks count for one process. Only u64s: user space subtracts them blindly. */
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

/* What the kernel itself knows of the process, read without stopping it. */
struct gauges {
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
struct usage {
	__u64 cpu_ns;		  /* of all threads, dead ones too */
	__u64 user_threads;	  /* of all processes of its user; ~0: not known */
	__u64 user_threads_limit; /* RLIMIT_NPROC; ~0: unlimited, or it does not bind */
};

struct record {
	__u32 kind; /* enum record_kind */
	__u32 len;  /* bytes of the struct, this header included */
	__u64 t_ns; /* CLOCK_MONOTONIC */
	/* bytes behind the struct: what a recording has of fields that are not known here */
	__u32 extra;
	__u32 pad;
};

struct process_record {
	struct record h;
	struct process_key subject;
	struct gauges g;
	struct usage u;
	/* A look that finds no counter changed ends the record here: h.len tells. */
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
	__u64 hole;	 /* the first address where nothing is mapped; ~0: none */
	__u64 start;	 /* of the first VMA that is not as was asked for, and before a hole */
	__u64 end;	 /* of the same; both 0: none */
	__u64 flags_all; /* VM_*: of every VMA walked */
	__u64 flags_any; /* of any */
	__u64 above; /* start of the first VMA in what the call would have grown into; 0: none */
	__u64 mapped_bytes; /* within the range */
	__u64 locked_bytes; /* of these */
	__u64 start_flags;  /* VM_*: of the VMA that `start` is of */
	__u32 vmas;	    /* whether there was any */
	__u32 walk;	    /* enum walk: whether it was looked at, whole */
};

/* The file behind a descriptor. */
struct file_facts {
	__u64 magic;	  /* of its file system: linux/magic.h */
	__u64 size_bytes; /* of the inode */
	__u64 mmap_ip;	  /* its mmap method: tells the driver */
	__u32 flags;	  /* FILE_* */
	__u32 mode;	  /* inode->i_mode */
	__u32 open_mode;  /* file->f_mode: FMODE_* of include/linux/fs.h */
	__u32 seals;	  /* F_SEAL_* of a memory file */
	char name[FILE_NAME_LEN];
};

/* Of the levels of a hierarchy the one with the least room. */
struct level_room {
	__u64 used;
	__u64 limit; /* ~0: none of them has one */
	__u32 up;    /* how many levels above the process's own */
	__u32 known;
};

/* What is counted for a user (in a user namespace), ~0 where it is not known. */
struct user_counts {
	__u64 processes;	 /* what RLIMIT_NPROC bounds */
	__u64 inotify_instances; /* of fanotify_init its groups in their place, since 5.13 */
	__u64 inotify_instances_max;
	__u64 inotify_watches;
	__u64 inotify_watches_max;
	__u64 pipe_pages;
	__u64 locked_pages; /* by io_uring, perf and others: a user's, not a process's */
};

/* What a call asks for, where its arguments only say where that is to be read. */
struct asked {
	__u64 bytes;   /* segment of shmat; strings and pointers of execve; buffers of io_uring;
			* messages of mq_open */
	__u64 longest; /* string of execve, with its end; of mq_open RLIMIT_MSGQUEUE */
	__u32 whole;   /* all of it was read */
	__u32 pad;
};

/*
 * A thread that was refused memory by mmap, mremap or brk asked for at least half as much again
 * within RETRY_NS, by mmap or mremap, and got it. It comes behind the record of the refusal.
 */
struct retry_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u16 call; /* enum call_id: the one that succeeded */
	__u16 pad;
	__u64 bytes; /* that it asked for */
};

/* State at the moment a call was refused. */
struct refused_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u16 call;  /* enum call_id */
	__u16 error; /* errno; 0 for brk and recvmsg, which give none */
	__u64 count; /* of equal ones (process, call, errno, facts) up to and with this */
	__u64 args[6];
	__s64 ret;
	__u64 total_vm_pages;
	__u64 data_vm_pages;
	__u64 locked_vm_pages;
	__u64 heap_bytes; /* brk - start_brk + end_data - start_data: what RLIMIT_DATA bounds */
	__u64 task_size_bytes;
	__u64 as_limit_bytes;
	__u64 data_limit_bytes;
	__u64 memlock_limit_bytes;
	__u64 stack_limit_bytes;
	__u64 nproc_limit;
	__u64 fd_soft;
	__u64 area_bytes; /* what no free range was found for; 0: none was sought in vain */
	struct address_range range;
	struct asked asked;
	struct file_facts file;
	struct level_room memory; /* pages, of the memory cgroup */
	struct level_room pids;
	struct user_counts user;
	__u64 variable[NR_VARIABLES];
	__u32 variables; /* bit i: number i is known */
	__u32 map_count;
	__u32 fds;	/* ~0 where they were not counted */
	__u32 fds_free; /* numbers that it may have been given; ~0 where they were not counted */
	__u32 facts;	/* FACT_* */
	__s32 stack;	/* of a stack record; < 0: none */
	char comm[COMM_LEN];
};

/* A fault signal, of the access that it was sent for. */
struct signal_record {
	struct record h;
	struct process_key subject;
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
	__u64 tmpfs_pages; /* of tmpfs: pages that it may have; 0: no limit of its own */
	union {
		__u64 tmpfs_pages_used; /* the same: pages that are in use */
		__u64 file_blocks; /* of other file systems: 512 bytes each, that the file holds
				    */
	};
	struct file_facts file;
	__u32 flags;	   /* SIGNAL_* */
	__u32 file_device; /* super_block->s_dev, MKDEV(); 0: not known */
	char comm[COMM_LEN];
};

/* A process was chosen by the OOM killer: as it was then. */
struct oom_record {
	struct record h;
	struct process_key subject;
	__u32 constraint; /* enum oom_constraint: as the kernel's log has it */
	__s32 score_adj;
	__u64 total_vm_pages;
	__s64 rss_file_pages;
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	struct level_room memory; /* pages, of its memory cgroup */
	__u32 by;		  /* pid of who asked for memory then */
	char by_comm[COMM_LEN];
	char comm[COMM_LEN];
	__u32 by_kept_pages; /* anonymous, shared and swapped of who asked; 0: not known */
};

/*
 * Faults of one class that took long, on one file, for one holder of the lock, out of one place in
 * the code: in all so far. Waits for the lock in calls and holders of it are told alike.
 */
struct slow_faults_record {
	struct record h;
	struct process_key subject;
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
	__u64 read_bytes; /* from disks, in it */
	__u32 kind;	  /* enum holding_kind */
	__u32 major;
	char file[FILE_NAME_LEN];
};

/* Equal ones are coalesced: of one instruction and process, probing reads of all processes. */
struct kernel_fault_record {
	struct record h;
	struct process_key subject;
	__u64 ip;
	__u64 address;
	__u64 error_code;
	__u64 count;
	__u32 nofault; /* inside copy_*_nofault: fixed up by construction */
	__u32 tid;
	char comm[COMM_LEN];
};

/* A process was born: until it execs, its program is its parent's. */
struct fork_record {
	struct record h;
	struct process_key subject;
	__u64 cgroup_id; /* as gauges have it */
	__u32 parent;	 /* pid */
	__u32 pad;
};

/* It runs another program now. */
struct exec_record {
	struct record h;
	struct process_key subject;
	__u64 cgroup_id;
	__u32 execs; /* with this one: as in its gauges */
	__u32 pad;
	char path[256]; /* as it was given to execve; of a script, its interpreter */
};

/* What a process waited for memory since this was last told. */
struct memory_wait_record {
	struct record h;
	struct process_key subject;
	__u64 reclaim_ns; /* direct reclaim, of the machine or of its memory cgroup */
	__u64 swap_ins;	  /* major faults of anonymous memory */
};

/* A line of the kernel's log that may be of an error report of its own. Longer ones are cut. */
struct report_record {
	struct record h;
	__u32 pid; /* in whose context it was written; 0: the idle task's */
	__u32 tid;
	char comm[COMM_LEN];
	char line[REPORT_LINE_LEN]; /* without the time that kernels before 5.19 have there */
};

/* A cgroup was made, or a process was moved into one of version 1. Longer paths are cut. */
struct cgroup_path_record {
	struct record h;
	__u64 id;	 /* as gauges have it */
	__u32 hierarchy; /* 0: version 2 */
	__u32 pid;	 /* 0: it was made; else who was moved */
	char path[CGROUP_PATH_LEN];
};

/*
 * What one process had from one place in its code: one call, user stack and sort of name. Of
 * mappings the growth of the map count, so that merges and splits need no model.
 */
struct growth {
	struct process_key subject;
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

/* A frame as struct bpf_stack_build_id (include/uapi/linux/bpf.h) has it. */
struct stack_frame {
	__s32 status; /* 1: build_id and offset into that file; 2: ip in place of offset */
	unsigned char build_id[20];
	__u64 offset;
};

/* A user stack, once for each process that has it: innermost first. */
struct stack_record {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 frames;
	__u64 caller; /* an address: who may have called the innermost; 0: not known */
	struct stack_frame frame[STACK_FRAMES];
};

/* Counted where something fell out; every output prints them. */
struct losses {
	__u64 ring;	 /* records the ring had no room for */
	__u64 map;	 /* processes or coalescing entries a map had no room for */
	__u64 slot;	 /* faults whose begin could not be kept */
	__u64 coalesced; /* equal events folded into one: not lost, counted in it */
	__u64 missed;	 /* hooks that the kernel passed over: see live.c; set by user space */
	__u64 stack;	 /* user stacks that could not be kept */
	__u64 growth;	 /* growth that could not be kept apart */
};

_Static_assert(sizeof(struct counters) % 8 == 0, "only u64s");

#endif
