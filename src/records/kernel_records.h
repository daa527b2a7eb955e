/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: the records that the kernel side creates and user space reads. BPF programs and user
 * space include this file.
 *
 * Start times of processes are in ns of CLOCK_BOOTTIME, times of events in ns of CLOCK_MONOTONIC.
 * Counters start at 0 when faultscope first sees the process.
 */
#ifndef FS_RECORDS_KERNEL_RECORDS_H
#define FS_RECORDS_KERNEL_RECORDS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "records/call_ids.h"
#include "records/fault_classes.h"
#include "records/record_kinds.h"
#include "records/stack_ends.h"

/* Identifies a process by its pid in the initial pid namespace and its start time. */
struct process_key {
	__u64 start_ns; /* task->start_boottime of the thread-group leader; exec keeps it */
	__u32 pid;
	__u32 pad;
};

struct map_call_count {
	__u64 calls; /* number of successful calls */
	__u64 refused;
	/* sum of the increases of mm->map_count, measured at the end of each call */
	__u64 vmas_added;
	__u64 vmas_removed;
};

struct fd_call_count {
	__u64 calls; /* number of file descriptors created or closed */
	__u64 refused;
};

/* Handled faults of one class. The number of faults is the sum of the bands. */
struct served_class {
	__u64 stall_ns;
	__u64 band[NR_BANDS];
};

/* Waits of threads of the process, in one of the classes of enum wait. */
struct waits {
	__u64 count;
	__u64 ns;
	__u64 in_faults_ns; /* part of `ns` that was spent within page faults */
};

/*
 * Groups of counters. BPF programs keep each group apart, and create a group when the first of its
 * counters changes: see struct fs_state in bpf/wire.h.
 */
#define MAPPING_COUNTERS                                                                           \
	struct map_call_count map_call[NR_MAP_CALLS];                                              \
	__u64 map_size[NR_MAP_SIZES];
#define DESCRIPTOR_COUNTERS struct fd_call_count fd_call[NR_FD_CALLS];
#define STALL_COUNTERS                                                                             \
	__u64 stall_ns[NR_ENDS];                                                                   \
	__u64 latency_max_ns[NR_ENDS];                                                             \
	__u64 latency[NR_ENDS][NR_LATENCY];                                                        \
	struct waits wait[NR_WAITS];
#define CLASS_COUNTERS                                                                             \
	__u64 served_max_ns[NR_CLASSES];                                                           \
	struct served_class served[NR_CLASSES];

/* Counters that have no group of their own. */
struct event_counters {
	__u64 fault_kind[NR_FAULT_KINDS];
#define COUNTER(id, ...) __u64 id;
#define UNSHOWN(id)	 __u64 id;
#include "records/counters.def"
};

/*
 * All counters of probes for one process. All members are u64, because user space treats the struct
 * as an array when it subtracts counters.
 */
struct counters {
	/* the members of struct event_counters */
	__u64 fault_kind[NR_FAULT_KINDS];
#define COUNTER(id, ...) __u64 id;
#define UNSHOWN(id)	 __u64 id;
#include "records/counters.def"
	MAPPING_COUNTERS
	DESCRIPTOR_COUNTERS
	STALL_COUNTERS
	CLASS_COUNTERS
};

/* Values of a process that the kernel keeps without any probe. */
struct gauges {
	__u64 cgroup_id; /* inode number of the cgroup's directory in the v2 hierarchy */
	__u64 min_flt;	 /* minor faults of all threads, ended ones too, as in getrusage(2) */
	__u64 maj_flt;
	__u64 total_vm_pages;
	__u64 data_vm_pages;
	__u64 locked_vm_pages;
	/* the kernel's counts of resident and swapped pages may lag by some pages per CPU */
	__s64 rss_file_pages;
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	__u64 fd_soft; /* soft RLIMIT_NOFILE; ~0: unlimited */
	__u64 fd_hard;
	__u64 as_limit_bytes;
	__u64 data_limit_bytes;
	__u64 memlock_limit_bytes;
	__u32 map_count;
	__u32 map_high; /* highest map_count that a probe or scan saw */
	__u32 fds;
	/*
	 * peak of fds since the soft limit was last lowered; if PROC_BORN is set: since the first
	 * exec
	 */
	__u32 fd_high;
	__u32 ppid;
	__u32 uid;
	__u32 threads;
	__u32 flags; /* PROC_* bits of the process */
	__u32 execs;
	/* if PROC_BORN is set: number of file descriptors that were inherited at fork */
	__u32 fd_base;
	char comm[COMM_LEN];
};

/* More gauges, written directly into the record because the BPF stack has no room for them. */
struct usage {
	__u64 cpu_ns;		  /* CPU time of all threads, ended ones too */
	__u64 user_threads;	  /* threads of all processes of the user; ~0: not known */
	__u64 user_threads_limit; /* RLIMIT_NPROC; ~0: unlimited, or the limit does not apply */
};

struct record {
	__u32 kind;  /* kind of record: enum record_kind */
	__u32 len;   /* bytes of the record, including this header */
	__u64 t_ns;  /* time of the record: CLOCK_MONOTONIC */
	__u32 extra; /* bytes after the struct: fields that this version does not know */
	__u32 pad;
};

struct process_record {
	struct record h;
	struct process_key subject;
	struct gauges g;
	struct usage u;
	/*
	 * The record ends before this member if no counter changed since the last scan. In this
	 * case, h.len is smaller.
	 */
	struct counters c;
};

struct crossing_record {
	struct record h;
	struct process_key subject;
	__u32 what; /* resource whose limit is near: enum what */
	__u32 percent;
	__u64 value;
	__u64 limit;
	char comm[COMM_LEN];
};

struct address_range {
	__u64 hole; /* first unmapped address of the range; ~0: none */
	/* start of the first VMA whose flags differ from what the call requests */
	__u64 start;
	__u64 end;	 /* end of the VMA at `start`; start and end 0: no such VMA */
	__u64 flags_all; /* VM_* bits that all VMAs of the range have */
	__u64 flags_any; /* VM_* bits that at least one VMA of the range has */
	/* start of the first VMA that prevents the range from growing; 0: none */
	__u64 above;
	__u64 mapped_bytes; /* number of mapped bytes in the address range */
	__u64 locked_bytes; /* number of mapped bytes that are locked */
	__u64 start_flags;  /* VM_* bits of the VMA at `start` */
	__u32 vmas;	    /* 1 if the address range contains a VMA, else 0 */
	__u32 walk;	    /* whether the whole range was read: enum walk */
};

/* The file that a file descriptor refers to. */
struct file_facts {
	__u64 magic;	  /* magic number of the file system: linux/magic.h */
	__u64 size_bytes; /* size of the file: i_size of the inode */
	__u64 mmap_ip;	  /* address of the mmap method: identifies the driver */
	__u32 flags;	  /* flags of the file: FILE_* bits */
	__u32 mode;	  /* type and mode of the file: inode->i_mode */
	__u32 open_mode;  /* FMODE_* bits of file->f_mode: include/linux/fs.h */
	__u32 seals;	  /* F_SEAL_* bits of a memfd */
	char name[FILE_NAME_LEN];
};

/* The most restrictive level of the cgroup hierarchy of a process. */
struct level_room {
	__u64 used;
	__u64 limit; /* limit of the most restrictive level; ~0: no level has a limit */
	__u32 up;    /* number of levels from the process's own cgroup up to this level */
	__u32 known;
};

/* Counts of a user in its user namespace; ~0: not known. */
struct user_counts {
	__u64 processes; /* processes that RLIMIT_NPROC limits */
	/* inotify instances; in the record of a fanotify_init call (since 5.13): fanotify groups */
	__u64 inotify_instances;
	__u64 inotify_instances_max;
	__u64 inotify_watches;
	__u64 inotify_watches_max;
	__u64 pipe_pages;
	/* locked pages that the kernel counts per user: those of io_uring, perf and others */
	__u64 locked_pages;
};

/* The size that a call requests, for calls whose arguments do not contain it. */
struct asked {
	/*
	 * requested bytes. shmat: size of the segment; execve: strings and pointers; io_uring:
	 * buffers; mq_open: messages
	 */
	__u64 bytes;
	/* for execve: bytes of the longest string with its NUL; for mq_open: RLIMIT_MSGQUEUE */
	__u64 longest;
	__u32 whole; /* 1 if the BPF program could read the whole requested size, else 0 */
	__u32 pad;
};

/*
 * A failed call that later succeeded: mmap, mremap or brk failed, and within RETRY_NS the same
 * thread got at least half the size by mmap or mremap. The retry record follows the record of the
 * failed call.
 */
struct retry_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u16 call; /* successful call of the retry: enum call_id */
	__u16 pad;
	__u64 bytes; /* size that the successful call requested, in bytes */
};

/* The file system of a call that needs space in a file of tmpfs or hugetlbfs, after the call. */
struct file_space {
	__u64 limit; /* blocks that the file system may use; 0: no limit, or not known */
	/* blocks in use; for tmpfs approximate: the kernel adds per-CPU counts now and then */
	__u64 used;
	__u64 file_blocks; /* blocks that the file itself uses; only for tmpfs */
	__u64 device;	   /* device number of the file system, in the kernel's encoding */
	__u32 block_bytes; /* bytes of a block; 0: the call needs no space in such a file */
	__u32 pad;
};

/* Limits of System V IPC objects, of the kind that a call creates, in its IPC namespace. */
struct ipc_room {
	__u64 used;	   /* pages of all segments, or number of all semaphores */
	__u64 limit;	   /* limit of `used`; 0: there is none */
	__u64 largest;	   /* bytes of the largest segment, or semaphores of the largest set */
	__u32 objects;	   /* number of objects of this kind */
	__u32 objects_max; /* limit of `objects`; 0: the call creates no such object */
	__u32 initial;	   /* 1: the initial IPC namespace; 0: another one */
	__u32 pad;
};

#define DRIVER_NAME_LEN 24

/*
 * The device file that a failed call used: a character device, or a file without a name that a
 * driver made, such as a virtual machine of KVM.
 */
struct device_facts {
	__u32 number; /* inode->i_rdev, in the kernel's encoding MKDEV(); 0: no character device */
	__u32 pad;
	__u64 pinned_pages; /* mm->pinned_vm: pages that drivers hold for the process */
	/* module of the driver; empty: in the kernel image, or no device */
	char driver[DRIVER_NAME_LEN];
};

/* What a limit counts. Numbers of recordings: new ones go to the end. */
enum counted_kind {
	COUNTED_NOTHING,
	/* namespaces of a user, of the types of enum ucount_type, in the kernel's order */
	COUNTED_USER_NAMESPACES,
	COUNTED_PID_NAMESPACES,
	COUNTED_UTS_NAMESPACES,
	COUNTED_IPC_NAMESPACES,
	COUNTED_NET_NAMESPACES,
	COUNTED_MNT_NAMESPACES,
	COUNTED_CGROUP_NAMESPACES,
	COUNTED_TIME_NAMESPACES,
	COUNTED_NESTED_NAMESPACES, /* levels of user or pid namespaces */
	COUNTED_FANOTIFY_MARKS,	   /* marks of a user */
	COUNTED_SIGNALS,	   /* queued signals and POSIX timers of a user */
	COUNTED_MOUNTS,		   /* mounts of the mount namespace */
	COUNTED_PIDS,		   /* pids of the pid namespace */
	COUNTED_FDS_IN_FLIGHT,	   /* fds of a user that messages of UNIX sockets contain */
	COUNTED_OPTION_BYTES,	   /* option memory of the socket */
	COUNTED_MULTICAST_GROUPS,  /* IPv4 multicast groups of the socket */
	COUNTED_QUEUES,		   /* POSIX message queues of the IPC namespace */
	COUNTED_QUEUE_MESSAGES,	   /* messages of a new POSIX message queue */
	COUNTED_QUEUE_MESSAGE_BYTES,
	COUNTED_MESSAGE_BYTES,	    /* bytes of a System V message */
	COUNTED_SEMAPHORE_OPS,	    /* operations of a semop() */
	COUNTED_PROTECTION_KEYS,    /* memory protection keys of the process */
	COUNTED_FILE_BYTES,	    /* size of a file */
	COUNTED_POLLED_FDS,	    /* elements of the array of poll() */
	COUNTED_LOCKED_PAGES,	    /* System V segments that a user locked */
	COUNTED_KEYS,		    /* keys of a user */
	COUNTED_KEY_BYTES,	    /* bytes of all keys of a user */
	COUNTED_AIO_REQUESTS,	    /* requests of all contexts of io_setup(), host-wide */
	COUNTED_PTYS,		    /* pseudo-terminals, host-wide */
	COUNTED_BREAKPOINTS,	    /* hardware breakpoints; the kernel tells no number */
	COUNTED_NAMESPACES,	    /* namespaces of one of the types in `types` */
	COUNTED_MULTICAST_SOURCES,  /* sources of an IPv4 multicast group of the socket */
	COUNTED_LISTENER_SOURCES,   /* sources of an IPv6 multicast group of the socket */
	COUNTED_MAX
};

/* Whose limit it is. Numbers of recordings. */
enum counted_place {
	COUNTED_BY_HOST,
	COUNTED_INSIDE,	   /* a namespace of the process */
	COUNTED_ELSEWHERE, /* another namespace */
};

/*
 * The count of objects that a limit bounds, such as namespaces of a user, when a call failed that
 * wanted to create one more: kernel/ucount.c and others.
 */
struct counted_objects {
	__u64 used;  /* number of objects, without those that the call requested; ~0: not known */
	__u64 limit; /* limit of `used`; ~0: none, or not known */
	__u64 asked; /* number that the call requested; 0: the call fails if used > limit */
	__u32 what;  /* enum counted_kind */
	__u32 owner; /* uid of the user whose objects are counted */
	__u32 inside; /* whose limit it is: enum counted_place */
	/*
	 * Bit i: namespaces of kind COUNTED_i may have reached their limit before `what`. Their
	 * counts are not known.
	 */
	__u32 types;
	__u32 namespace; /* inode number of the namespace that has the limit; 0: not known */
	__u32 level;	 /* number of user namespaces from the process's own up to that one */
};

/* A failed system call, with the state of the process when it failed. */
struct refused_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u16 call;  /* number of the failed call: enum call_id */
	__u16 error; /* errno; 0 for brk and recvmsg, which return none */
	__u64 count; /* number of equal failures so far: same process, call, errno and facts */
	__u64 args[6];
	__s64 ret;
	__u64 total_vm_pages;
	__u64 data_vm_pages;
	__u64 locked_vm_pages;
	__u64 heap_bytes; /* brk - start_brk + end_data - start_data, which RLIMIT_DATA limits */
	__u64 task_size_bytes;
	__u64 as_limit_bytes;
	__u64 data_limit_bytes;
	__u64 memlock_limit_bytes;
	__u64 stack_limit_bytes;
	__u64 nproc_limit;
	__u64 fd_soft;
	/*
	 * length of the free address range that the kernel searched for in vain; 0: no search
	 * failed
	 */
	__u64 area_bytes;
	struct address_range range;
	struct asked asked;
	struct file_facts file;
	struct level_room memory; /* the memory cgroup with the least room, in pages */
	struct level_room pids;
	struct user_counts user;
	__u64 variable[NR_VARIABLES];
	__u32 variables; /* bit i: the kernel variable variable[i] is known */
	__u32 map_count;
	__u32 fds; /* open file descriptors; ~0: not counted */
	/* free fd numbers among those that the call could have used; ~0: not counted */
	__u32 fds_free;
	__u32 facts; /* FACT_* bits: facts about the failed call */
	__s32 stack; /* number of the user stack's record; < 0: no stack */
	char comm[COMM_LEN];
	struct file_space space;
	struct ipc_room ipc;
	struct device_facts device;
	struct counted_objects counted;
};

/* A fatal signal, and the memory access that caused it. */
struct signal_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__s32 signal;
	__s32 code;
	__u32 area; /* whether the address is mapped: enum mapped */
	__u64 address;
	__u64 sp;	  /* user stack pointer at the access; 0: not known */
	__u64 error_code; /* error code of the page fault, in x86 bits; 0: not known */
	__u64 ip_bytes;	  /* first bytes of the instruction that are readable */
	__u64 area_flags; /* VM_* bits of the mapping at the address; 0: no mapping */
	__u64 area_start; /* start of the mapping or of the unmapped range */
	__u64 area_end;
	/*
	 * VM_* bits of the next mapping above the address, if the address is not mapped or not
	 * accessible
	 */
	__u64 above_flags;
	__u64 above_end;
	__u64 file_page; /* file offset of the mapping, in pages */
	__u64 stack_limit_bytes;
	__u64 tmpfs_pages; /* size limit of the tmpfs in pages; 0: the tmpfs has no limit */
	union {
		__u64 tmpfs_pages_used; /* number of pages in use, if the file is in a tmpfs */
		__u64 file_blocks;	/* blocks of 512 bytes of the file, if not in a tmpfs */
	};
	struct file_facts file;
	__u32 flags;	   /* flags of the signal: SIGNAL_* bits */
	__u32 file_device; /* super_block->s_dev of the file, as MKDEV(); 0: not known */
	char comm[COMM_LEN];
	__u32 stack; /* number of the user stack's record, plus 1; 0: no stack */
	__u32 pad;
};

/* A process that the OOM killer chose, with the state of the process at that time. */
struct oom_record {
	struct record h;
	struct process_key subject;
	__u32 constraint; /* why the OOM killer ran, as in the kernel log: enum oom_constraint */
	__s32 score_adj;
	__u64 total_vm_pages;
	__s64 rss_file_pages;
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	struct level_room memory; /* memory cgroup of the process, in pages */
	__u32 by;		  /* pid of the process whose allocation started the OOM killer */
	char by_comm[COMM_LEN];
	char comm[COMM_LEN];
	__u32 by_kept_pages; /* anonymous, shared and swapped pages of process `by`; 0: not known */
	/*
	 * The cgroup whose limit was reached, at the time of the kill: the level with the least
	 * room, among the victim's memory cgroup and its ancestors.
	 */
	__u64 cgroup_id; /* its id: kernfs_node->id; 0: no level has a limit, or not known */
	/* pages of swap that it uses; cgroup v1: of memory and swap together; ~0: unknown */
	__u64 swap_used;
	__u64 swap_limit;	/* limit of `swap_used`, in pages; ~0: none, or unknown */
	__u64 kmem_pages;	/* cgroup v1: pages of kernel memory; ~0: unknown */
	__u64 page_table_bytes; /* page tables of the victim; 0: not known */
	__u32 version;		/* version of the memory cgroup hierarchy: 1 or 2; 0: not known */
	__u32 group;	  /* 1: memory.oom_group is set in a cgroup of the victim; 0: not set */
	__u32 pid_inside; /* the victim's pid in its own pid namespace; 0: not known */
	/*
	 * 0: the kernel killed the process; else the signal that the process `by` sent, because it
	 * is a program that kills when memory is short, such as systemd-oomd
	 */
	__u32 sent;
	__u32 stack; /* number of the record of the user stack of `by`, plus 1; 0: no stack */
	__u32 pad;
};

/*
 * Totals of slow page faults with the same class, file, mmap_lock holder and call stack. System
 * calls that waited for mmap_lock, or that held it, have records of this kind too.
 */
struct slow_faults_record {
	struct record h;
	struct process_key subject;
	__u32 tid;   /* thread of the latest slow fault */
	__u32 class; /* class of the slow faults: enum fault_class */
	__s32 stack; /* number of the user stack's record; < 0: no stack */
	__u32 pad;
	__u64 count;
	__u64 total_ns;
	__u64 max_ns;
	__u64 read_bytes;
	__u64 waited_ns[NR_WAITS];
	__u64 inode;  /* inode of the file; 0: no file */
	__u32 holder; /* pid of the process that held mmap_lock; 0: nobody held it */
	__u32 holder_writes;
	char holder_comm[COMM_LEN];
	char comm[COMM_LEN];
	char file[FILE_NAME_LEN];
};

/*
 * A randomly sampled page fault that stands for `weight` faults. The mapping of the fault is
 * described as in /proc/PID/maps.
 */
struct sample_record {
	struct record h;
	struct process_key subject;
	__u32 tid;
	__u32 weight;
	__u32 class; /* class of the page fault: enum fault_class */
	__s32 stack; /* number of the user stack's record; < 0: no stack */
	__u64 address;
	__u64 area_from; /* start and end of the mapping; both are 0 if not known */
	__u64 area_to;
	__u64 took_ns;
	__u64 read_bytes; /* bytes read from disks during the fault */
	__u32 kind;	  /* kind of mapping: enum holding_kind */
	__u32 major;
	char file[FILE_NAME_LEN];
};

/*
 * Bad memory accesses in kernel mode. All accesses by one instruction in one process share a
 * record. Deliberate accesses (copy_*_nofault) by one instruction share one record for all
 * processes.
 */
struct kernel_fault_record {
	struct record h;
	struct process_key subject;
	__u64 ip;
	__u64 address;
	__u64 error_code;
	__u64 count;
	/* 1 if the access was within copy_*_nofault(), which always recovers, else 0 */
	__u32 nofault;
	__u32 tid;
	char comm[COMM_LEN];
};

/* A process was created. Until its first exec, a new process runs the program of its parent. */
struct fork_record {
	struct record h;
	struct process_key subject;
	__u64 cgroup_id; /* cgroup id, as in struct gauges */
	__u32 parent;	 /* pid of the process that called fork */
	__u32 pad;
};

/* A process executed a new program. */
struct exec_record {
	struct record h;
	struct process_key subject;
	__u64 cgroup_id;
	__u32 execs; /* number of execs of the process, including this one */
	__u32 pad;
	char path[256]; /* path given to execve; for a script, path of its interpreter */
};

/* How long a process waited for memory since its last memory_wait_record. */
struct memory_wait_record {
	struct record h;
	struct process_key subject;
	/* time in direct reclaim, whether the machine or the memory cgroup was short of memory */
	__u64 reclaim_ns;
	__u64 swap_ins; /* number of pages read from swap: major faults on anonymous memory */
};

/* A line of the kernel log that may belong to an error report. Longer log lines are cut. */
struct report_record {
	struct record h;
	__u32 pid; /* process in whose context the line was logged; 0: the idle task */
	__u32 tid;
	char comm[COMM_LEN];
	/* the line without the time stamp that kernels before 5.19 include */
	char line[REPORT_LINE_LEN];
};

/* A cgroup was created, or a process moved to another v1 cgroup. Longer cgroup paths are cut. */
struct cgroup_path_record {
	struct record h;
	__u64 id;	 /* cgroup id, as in struct gauges */
	__u32 hierarchy; /* id of the hierarchy; 0: version 2 */
	__u32 pid;	 /* pid of the process that moved; 0: the cgroup was created */
	char path[CGROUP_PATH_LEN];
};

/*
 * Growth that one process caused by one system call, from one user stack, for one file name in
 * which "#" replaces numbers. Growth of mappings is measured by the process's map count, so that
 * merged and split mappings need no special handling.
 */
struct growth {
	struct process_key subject;
	__s32 stack; /* number of the user stack's record; < 0: no stack */
	__u16 call;  /* system call that caused the growth: enum call_id */
	__u16 what;  /* whether mappings or file descriptors grew: enum what */
	__u32 flags; /* flags of the file: FILE_* bits */
	__u32 mode;  /* inode->i_mode; without a file: GROWTH_ANON(protection, flags) of mmap */
	__u64 magic; /* magic number of the file system */
	__u64 added;
	__u64 removed;
	__u64 first_ns;
	__u64 last_ns;
	char name[FILE_NAME_LEN]; /* file name; "#" and filler bytes replace the digits in it */
};

/* A stack frame, with the layout of struct bpf_stack_build_id (include/uapi/linux/bpf.h). */
struct stack_frame {
	__s32 status; /* 1: build id and offset are known; 2: `offset` is an address */
	unsigned char build_id[20];
	__u64 offset;
};

/*
 * A user stack, innermost frame first. The kernel side sends it once for each process that has the
 * stack.
 */
struct stack_record {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 frames;
	/* return address that may belong to the caller of the innermost function; 0: not known */
	__u64 caller;
	/* enum stack_end: why the unwind tables gave no stack; 0: the process has no tables */
	__u32 end;
	__u32 pad;
	struct stack_frame frame[STACK_FRAMES];
};

/* A CPython frame. */
struct python_frame {
	__u64 code;  /* address of the code object; 0: the frame runs no Python function */
	__u64 instr; /* address of the current instruction; up to CPython 3.10, its index */
	__u64 at;    /* address of the frame, combined with FRAME_ENDS_RUN */
};
/* flag in python_frame.at: the frame is the last of those that one native frame runs */
#define FRAME_ENDS_RUN 1ULL

/*
 * A user stack that was walked with unwind tables, innermost frame first. The walk reached the
 * outermost frame if `end` is STACK_END_ENTRY. If the stack has more than WALK_FRAMES frames, the
 * first WALK_INNER of them are followed by a ring of the outermost frames: see walk_slot.h.
 */
struct walk_record {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 frames;	  /* number of frames of the stack */
	__u32 end;	  /* why the walk ended: enum stack_end */
	__u32 by_chain;	  /* number of frames that were found with a frame pointer alone */
	__u32 generation; /* fs_unwind_proc.generation of the process */
	__u32 pad;
	/* bit set of frames that made no call: the innermost one, and interrupted ones */
	__u64 interrupted[WALK_FRAMES / 64];
	__u64 ip[WALK_FRAMES];
	__u64 sp[WALK_FRAMES];
	/* number of CPython frames; if it is above WALK_PYTHON, `python` has some of them */
	__u32 pythons;
	__u32 python_cut;			 /* nonzero: more frames could not be read */
	struct python_frame python[WALK_PYTHON]; /* see python_slots.h */
};

#define STACK_COPY_BYTES     65536
#define STACK_COPY_REGISTERS 33

/*
 * A copy of a thread's registers and stack, for a stack whose unwind tables are not ready yet. The
 * record ends after `bytes` bytes of data.
 */
struct stack_copy_record {
	struct record h;
	struct process_key subject;
	__u32 stack;	/* number of the stack */
	__u32 bytes;	/* number of bytes in `data` */
	__u64 valid_ns; /* fs_unwind_epoch.valid_ns and .mapped of the process */
	__u32 mapped;
	__u32 pad;
	__u64 base; /* user address of data[0], the start of a page; bytes below sp are undefined */
	/* the first registers of the kernel's struct pt_regs, in its order */
	__u64 registers[STACK_COPY_REGISTERS];
	__u8 data[STACK_COPY_BYTES];
};

/*
 * Names and line table of a CPython code object. The record is sent before the first stack that
 * contains the code object.
 */
#define PYTHON_TABLE 4096
struct python_code_record {
	struct record h;
	struct process_key subject;
	__u64 code;
	__u64 start; /* address of the first instruction; 0: python_frame.instr is an index */
	__u32 first_line;
	__u32 minor; /* N of CPython 3.N */
	__u32 file_bytes;
	__u32 name_bytes;
	__u32 table_bytes;
	__u8 file_kind; /* bytes per character in `file` */
	__u8 name_kind;
	__u8 pad[2];
	__u8 file[256]; /* last part of the path of the source file */
	__u8 name[128];
	__u8 table[PYTHON_TABLE]; /* the BPF programs end the record after fewer bytes */
};

/* A process executes code for which user space has no unwind table. */
struct code_record {
	struct record h;
	struct process_key subject;
};

/* Counters of lost data, which every output shows. */
struct losses {
	__u64 ring; /* records that did not fit into the ring buffer */
	/* processes or coalesced events that did not fit into a BPF map; and freed states */
	__u64 map;
	/* page faults whose start time could not be stored, so that their latency is not known */
	__u64 slot;
	__u64 coalesced; /* equal events that share a record: counted, not lost */
	__u64 missed;	 /* probe runs that the kernel skipped (see live.c); user space sets it */
	__u64 stack;	 /* user stacks that were not stored */
	__u64 growth;	 /* changes of map and fd counts lost because the growth table was full */
};

_Static_assert(sizeof(struct counters) % 8 == 0, "only u64s");

#endif
