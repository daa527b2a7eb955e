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
#include "wire_fault.h"
#include "wire_maple.h"

#define FS_WIRE_VERSION 7

#define FS_COMM_LEN 16

/* clang-format off */
/* Calls that change mappings. X(id, name): the name is the JSON key. */
#define FS_MAP_CALLS(X)                                                                            \
	X(MMAP, "mmap") X(MUNMAP, "munmap") X(MREMAP, "mremap")                                    \
	X(MPROTECT, "mprotect") X(MADVISE, "madvise") X(BRK, "brk")                                \
	X(MLOCK, "mlock") X(MLOCKALL, "mlockall") X(MUNLOCK, "munlock")                            \
	X(SHMAT, "shmat") X(SHMDT, "shmdt")

/* Calls that make or close descriptors. */
#define FS_FD_CALLS(X)                                                                             \
	X(OPEN, "open") X(SOCKET, "socket") X(SOCKETPAIR, "socketpair")                            \
	X(ACCEPT, "accept") X(PIPE, "pipe") X(DUP, "dup")                                          \
	X(EVENTFD, "eventfd") X(EPOLL, "epoll") X(MEMFD, "memfd")                                  \
	X(INOTIFY, "inotify") X(FANOTIFY, "fanotify") X(SIGNALFD, "signalfd")                      \
	X(TIMERFD, "timerfd") X(USERFAULTFD, "userfaultfd") X(PIDFD, "pidfd")                      \
	X(PIDFD_GETFD, "pidfd_getfd") X(PERF_EVENT, "perf_event") X(BPF, "bpf")                    \
	X(IO_URING, "io_uring") X(RECVMSG, "recvmsg") X(OTHER, "other")                            \
	X(CLOSE, "close")

/* Calls of which only refusals are told. */
#define FS_OTHER_CALLS(X)                                                                          \
	X(CLONE, "clone") X(EXECVE, "execve") X(INOTIFY_WATCH, "inotify_add_watch")                \
	X(EPOLL_CTL, "epoll_ctl") X(IO_URING_REGISTER, "io_uring_register") X(PIPE_SIZE, "fcntl")  \
	X(MSYNC, "msync") X(MINCORE, "mincore") X(MBIND, "mbind")                                  \
	X(SETRLIMIT, "setrlimit") X(SELECT, "select")
/* clang-format on */

enum fs_call {
	FS_CALL_NONE,
#define X(id, name) FS_CALL_##id,
	FS_MAP_CALLS(X) FS_CALL_FD_FIRST,
	FS_CALL_FD_BASE = FS_CALL_FD_FIRST - 1,
	FS_FD_CALLS(X) FS_CALL_OTHER_FIRST,
	FS_CALL_OTHER_BASE = FS_CALL_OTHER_FIRST - 1,
	FS_OTHER_CALLS(X)
#undef X
		FS_CALL_MAX,
};

#define FS_NR_MAP_CALLS 11
#define FS_NR_FD_CALLS	22

_Static_assert(FS_CALL_FD_BASE == FS_NR_MAP_CALLS, "one counter a mapping call");
_Static_assert(FS_CALL_OTHER_FIRST - FS_CALL_FD_FIRST == FS_NR_FD_CALLS,
	       "one counter a descriptor call");

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
	unsigned char call;  /* enum fs_call */
	unsigned char shape; /* enum fs_shape */
};
#define FS_SYSCALL_MAX 512

/* Mapping sizes: bucket i holds [2^(i+12), 2^(i+13)) bytes; the last also more. */
#define FS_NR_MAP_SIZES	  32
#define FS_MAP_SIZE_SHIFT 12

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
	__u64 fault_kind[FS_NR_FAULT_KINDS];
#define FS_SINCE_1(id) __u64 id;
#define FS_SINCE_4(id)
#define FS_SINCE_8(id)
#define COUNTER(since, id, ...) FS_SINCE_##since(id)
#define UNSHOWN(since, id)	FS_SINCE_##since(id)
#include "records/counters.def"
#undef FS_SINCE_1
#undef FS_SINCE_4
	struct fs_map_call_count map_call[FS_NR_MAP_CALLS];
	struct fs_fd_call_count fd_call[FS_NR_FD_CALLS];
	__u64 map_size[FS_NR_MAP_SIZES];
	__u64 stall_ns[FS_NR_ENDS];
	__u64 latency_max_ns[FS_NR_ENDS];
	__u64 latency[FS_NR_ENDS][FS_NR_LATENCY];
	__u64 end_of_version_3[0];
	__u64 served_max_ns[FS_NR_CLASSES];
	struct fs_served served[FS_NR_CLASSES];
#define FS_SINCE_1(id)
#define FS_SINCE_4(id) __u64 id;
#define COUNTER(since, id, ...) FS_SINCE_##since(id)
#define UNSHOWN(since, id)	FS_SINCE_##since(id)
#include "records/counters.def"
	struct fs_waits wait[FS_NR_WAITS];
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
	__u32 flags; /* FS_PROC_* */
	__u32 execs;
	__u32 fd_base; /* where FS_PROC_BORN: descriptors inherited */
	char comm[FS_COMM_LEN];
};

/* The same, put into the record itself: the stack of the kernel side has no room for more. */
struct fs_usage {
	__u64 cpu_ns;		  /* of all threads, dead ones too */
	__u64 user_threads;	  /* of all processes of its user; ~0: not known */
	__u64 user_threads_limit; /* RLIMIT_NPROC; ~0: unlimited, or it does not bind */
};

#define FS_PROC_BORN	  1u   /* the hooks saw its fork: its counters are whole */
#define FS_PROC_WATCHED	  2u   /* a target, or a followed child of one */
#define FS_PROC_FOLLOW	  4u   /* its children are watched too */
#define FS_PROC_FINAL	  8u   /* this is its last record: it is exiting */
#define FS_PROC_SHARES_MM 16u  /* vfork child: the mappings are its parent's */
#define FS_PROC_COMMAND	  32u  /* the command that `faultscope run` started */
#define FS_PROC_NO_MM	  64u  /* its memory is gone: map and fd figures are the last known */
#define FS_PROC_NO_COUNT  128u /* no hook has seen its map count, and the look cannot */
/* of the kernel side's state alone, never of a record: */
#define FS_PROC_LEFT 256u /* its counters are kept in the table of orphans now */
#define FS_PROC_HALF 512u /* they are being moved to it */
#define FS_PROC_KEPT (FS_PROC_LEFT | FS_PROC_HALF)

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
	__u32 flags;	    /* FS_PROC_*; near what each hook writes */
	__u32 threads;	    /* by the last look */
	__u32 last_map_count; /* 0: not known yet */
	__u32 map_count;
	__u32 map_high;
	__u32 fd_high;
	__u32 fds;
	__u32 marks[2]; /* by enum fs_what: thresholds passed, so the next to test */
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

enum fs_record_kind {
	FS_REC_PROCESS = 1,
	FS_REC_CROSSING,
	FS_REC_REFUSED,
	FS_REC_SIGNAL,
	FS_REC_KERNEL_FAULT,
	/* of use to live names alone: no recording holds them */
	FS_REC_FORK,
	FS_REC_EXEC,
	FS_REC_STACK,
	FS_REC_OOM,
	FS_REC_CGROUP,
	FS_REC_PRESSURE,
	FS_REC_SLOW_FAULTS,
	FS_REC_REPORT,
	FS_REC_SAMPLE,
	FS_REC_RETRY,
	/* made in user space; a recording holds them so that a replay needs nothing else */
	FS_REC_HOST = 64,
	FS_REC_HOOK,
	FS_REC_TICK,
	FS_REC_NAMES,
	FS_REC_SYMBOL,
	FS_REC_END,
	FS_REC_LIMITS,
	FS_REC_GROWTH,
	FS_REC_FRAMES,
	FS_REC_HOLDING,
	FS_REC_ORIGIN,
	FS_REC_LEVELS,
};

struct fs_header {
	__u32 kind; /* enum fs_record_kind */
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

enum fs_what { FS_WHAT_MAPS, FS_WHAT_FDS };

struct fs_crossing_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 what; /* enum fs_what */
	__u32 percent;
	__u64 value;
	__u64 limit;
	char comm[FS_COMM_LEN];
};

#include "wire_refused.h"

#define FS_SIGNAL_ODD	 1u /* a register holds what is an address in neither half */
#define FS_SIGNAL_FATAL	 2u /* nothing handles it: the process dies of it */
#define FS_SIGNAL_ASIDE	 4u /* its thread runs on its alternate stack: in a handler */

enum fs_area { FS_AREA_UNKNOWN, FS_AREA_NONE, FS_AREA_FOUND };

/* A fault signal, of the access that it was sent for. */
struct fs_signal_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;
	__s32 signal;
	__s32 code;
	__u32 area; /* enum fs_area: what is mapped at the address */
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
	__u32 flags;	     /* FS_SIGNAL_* */
	__u32 file_device;   /* super_block->s_dev, MKDEV(); 0: not known */
	char comm[FS_COMM_LEN];
};

/* Why the OOM killer was called: enum oom_constraint of include/linux/oom.h. */
enum fs_oom_constraint {
	FS_OOM_UNKNOWN,
	FS_OOM_NONE, /* the machine's memory */
	FS_OOM_CPUSET,
	FS_OOM_POLICY,
	FS_OOM_MEMCG,
};

/* A process was chosen by the OOM killer: as it was then. */
struct fs_oom_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 constraint; /* enum fs_oom_constraint: as the kernel's log has it */
	__s32 score_adj;
	__u64 total_vm_pages;
	__s64 rss_file_pages;
	__s64 rss_anon_pages;
	__s64 swap_pages;
	__s64 rss_shmem_pages;
	struct fs_level memory; /* pages, of its memory cgroup */
	__u32 by;		/* pid of who asked for memory then */
	char by_comm[FS_COMM_LEN];
	char comm[FS_COMM_LEN];
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
	__u32 class; /* enum fs_fault_class */
	__s32 stack; /* < 0: not known */
	__u32 pad;
	__u64 count;
	__u64 total_ns;
	__u64 max_ns;
	__u64 read_bytes;
	__u64 waited_ns[FS_NR_WAITS];
	__u64 inode;  /* 0: no file */
	__u32 holder; /* pid of who had mmap_lock; 0: none was waited for */
	__u32 holder_writes;
	char holder_comm[FS_COMM_LEN];
	char comm[FS_COMM_LEN];
	char file[FS_FILE_NAME];
};

#define FS_SAMPLE_EACH 64 /* one in so many is the most that is asked for; a power of two */

/*
 * One of the page faults that were served, drawn by chance: it stands for `weight` of them. What
 * was mapped there is told as /proc/PID/maps would.
 */
struct fs_sample_record {
	struct fs_header h;
	struct fs_subject subject;
	__u32 tid;
	__u32 weight;
	__u32 class; /* enum fs_fault_class */
	__s32 stack; /* < 0: not known */
	__u64 address;
	__u64 area_from; /* [from, to); both 0: not known */
	__u64 area_to;
	__u64 took_ns;
	__u64 read_bytes; /* from disks, in it */
	__u32 kind;	  /* enum fs_holding_kind */
	__u32 major;
	char file[FS_FILE_NAME];
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
	char comm[FS_COMM_LEN];
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

#define FS_REPORT_LINE 192

/* A line of the kernel's log that may be of an error report of its own. Longer ones are cut. */
struct fs_report_record {
	struct fs_header h;
	__u32 pid; /* in whose context it was written; 0: the idle task's */
	__u32 tid;
	char comm[FS_COMM_LEN];
	char line[FS_REPORT_LINE]; /* without the time that kernels before 5.19 have there */
};

#define FS_CGROUP_PATH 512

/* A cgroup was made, or a process was moved into one of version 1. Longer paths are cut. */
struct fs_cgroup_record {
	struct fs_header h;
	__u64 id;	 /* as gauges have it */
	__u32 hierarchy; /* 0: version 2 */
	__u32 pid;	 /* 0: it was made; else who was moved */
	char path[FS_CGROUP_PATH];
};

/*
 * What one process had from one place in its code: one call, user stack and sort of name. Of
 * mappings the growth of the map count, so that merges and splits need no model.
 */
struct fs_growth {
	struct fs_subject subject;
	__s32 stack; /* of a stack record; < 0: none was to be had */
	__u16 call;  /* enum fs_call */
	__u16 what;  /* enum fs_what */
	__u32 flags; /* FS_FILE_* */
	__u32 mode;  /* inode->i_mode; without a file: protection and flags of mmap, FS_ANON */
	__u64 magic; /* of the file system */
	__u64 added;
	__u64 removed;
	__u64 first_ns;
	__u64 last_ns;
	char name[FS_FILE_NAME]; /* the file's own, numbers folded to "#" and fillers */
};
#define FS_NAME_FILLER	     1
#define FS_ANON(prot, flags) (((prot)&7) << 24 | ((flags)&0x1fffff))

#ifndef FS_GROWTH_MAX
#define FS_GROWTH_MAX 8192 /* places at a time; a power of two */
#endif

/* A place that is given back, and when it grew last by then. */
struct fs_spare {
	__u32 place;
	__u32 pad;
	__u64 last_ns; /* 0: it was taken, and never used */
};

struct fs_growth_record {
	struct fs_header h;
	__u32 place; /* below FS_GROWTH_MAX: a later record of the same place and first_ns follows
			this one */
	__u32 pad;
	struct fs_growth g;
};

#define FS_STACKS	8192 /* stacks at a time: their numbers go on, and are not used again */
#define FS_STACK_FRAMES 48

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
	struct fs_frame frame[FS_STACK_FRAMES];
};

#define FS_FRAMES_SHORT 1u /* its outermost frame is no beginning of a thread */

/* The same with names: "symbol+0x12 (module)", a line a frame. */
struct fs_frames_record {
	struct fs_header h;
	struct fs_subject subject;
	__s32 stack;
	__u32 flags; /* FS_FRAMES_* */
	char text[3072];
};

/* What a mapping or a descriptor is. X(id, name): the name is the JSON value. */
#define FS_HOLDING_KINDS(X)                                                                        \
	X(ANONYMOUS, "anonymous")                                                                  \
	X(GUARD, "guard") /* anonymous, without any right */                                       \
	X(STACK, "stack")                                                                          \
	X(HEAP, "heap")                                                                            \
	X(FILE_PRIVATE, "private file")                                                            \
	X(FILE_SHARED, "shared file")                                                              \
	X(SHARED_MEMORY, "shared memory")                                                          \
	X(SPECIAL, "special")                                                                      \
	X(FILE, "file")                                                                            \
	X(DIRECTORY, "directory")                                                                  \
	X(DEVICE, "device")                                                                        \
	X(PIPE, "pipe")                                                                            \
	X(SOCKET, "socket")                                                                        \
	X(MEMFD, "memfd")                                                                          \
	X(ANON_INODE, "anon_inode")                                                                \
	X(OTHER, "other")

enum fs_holding_kind {
#define X(id, name) FS_HOLDING_##id,
	FS_HOLDING_KINDS(X)
#undef X
		FS_NR_HOLDING_KINDS,
};

/* What a process holds at one moment, those of one sort together: by kind and folded name. */
struct fs_holding {
	struct fs_subject subject;
	__u32 what; /* enum fs_what */
	__u32 kind; /* enum fs_holding_kind */
	__u64 count;
	__u64 bytes; /* of mappings */
	__u32 names; /* 1: all have this name; 2: it is a pattern */
	__u32 cut;   /* there were more than were read */
	char name[160];
};

struct fs_holding_record {
	struct fs_header h;
	__u32 nth; /* of its process and `what`: 0 starts anew */
	__u32 pad;
	struct fs_holding g;
};

/*
 * Of the control groups of a process those with the least room, read by user space: memory in
 * bytes, less what the kernel could take back.
 */
struct fs_levels_record {
	struct fs_header h;
	struct fs_subject subject;
	struct fs_level memory;
	struct fs_level pids;
};

/* Where a limit of a process or of the host comes from, and commands that change it; as text. */
struct fs_origin_record {
	struct fs_header h;
	struct fs_subject subject; /* all 0: the host */
	__u32 limit;		   /* a row of user space's table of limits */
	__u32 host_wide;	   /* a change of it is one for all containers too */
	char set_by[320];
	char at_once[1024]; /* gains time until the next start or boot */
	char for_good[1024];
	char cost[320];
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
	__u64 variable[FS_NR_VARIABLES]; /* where they are; 0: not known */
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

struct fs_limits {
	__u64 max_map_count;
	__u64 file_max;
	__u64 file_nr;
	__u64 nr_open;
	__u64 commit_limit_bytes;
	__u64 committed_bytes;
	__u64 mem_total_bytes;
	__u64 mem_available_bytes;
	__u64 swap_total_bytes;
	__u64 swap_free_bytes;
	__u64 inotify_instances;
	__u64 overcommit_memory;
	__u64 mmap_min_addr;
	__u64 page_bytes;
	__u64 huge_page_bytes; /* the default size; its pool: */
	__u64 huge_pages;
	__u64 huge_pages_free;
	__u64 huge_pages_reserved;
	__u64 threads;
	__u64 threads_max;
	__u64 pid_max;
	__u64 inotify_watches;
	__u64 epoll_watches;
	__u64 pipe_pages_soft;
	__u64 pipe_pages_hard;
	__u64 pipe_max_bytes;
	__u64 mem_free_bytes;
};

/* The machine's limits as they are at a refusal, ahead of it. */
struct fs_limits_record {
	struct fs_header h;
	struct fs_limits limits;
};

/* The end of a look: user space's own record, once per interval. */
struct fs_tick_record {
	struct fs_header h;
	__u64 wall_ns; /* CLOCK_REALTIME */
	struct fs_losses losses;
	struct fs_limits limits;
	__u64 own_cpu_ns;
	__u64 own_bpf_ns;
	__u64 own_rss_bytes;
	__u64 look_ns;
};

struct fs_host_record {
	struct fs_header h;
	__u64 wall_ns;
	__u64 interval_ns;
	__u32 tiers; /* bit i: tier i is paid for */
	__u32 cpus;
	char version[32];
	char kernel[96];
	char arch[16];
	char host[64];
	char boot_id[40];
	char mode[16];
	char target[128];
};

struct fs_hook_record {
	struct fs_header h;
	__u32 tier;
	__u32 state; /* enum fs_hook_state */
	__u32 lacks; /* FS_LACKS_* of the mechanism in use */
	__u32 pad;
	char name[24];
	char mechanism[24];
	char why[160];
};

/* What a mechanism does not tell. */
#define FS_LACKS_ACCESS	    1u	/* read, write or exec */
#define FS_LACKS_PROTECTION 2u	/* whether the page was there */
#define FS_LACKS_AREA	    4u	/* what is mapped where a signal comes from */
#define FS_SEES_KERNEL	    8u	/* kernel-mode faults too */
#define FS_LACKS_COPIES	    16u /* user copies: of kernel-mode faults only bad ones */
#define FS_LACKS_MINOR	    32u /* minor faults: only major ones are timed */
#define FS_LACKS_OTHERS	    64u /* processes outside of our own pid namespace */

enum fs_hook_state { FS_HOOK_OFF, FS_HOOK_ON, FS_HOOK_BLIND };

/* In `why` of a hook that the caller did not want: --hook NAME=none. */
#define FS_SWITCHED_OFF "switched off by --hook"

/* Names found in /proc for a process, NUL-terminated and cut to size. */
struct fs_names_record {
	struct fs_header h;
	struct fs_subject subject;
	char exe[256];
	char cgroup[256];
};

struct fs_symbol_record {
	struct fs_header h;
	__u64 ip;
	char symbol[64];
	char module[64];
};

#define FS_END_FULL 1u /* it would have become larger than was allowed */

struct fs_end_record {
	struct fs_header h;
	__u32 reason; /* 0: as asked; FS_END_* */
	__u32 pad;
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
