/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: kinds, flags and lengths that kernel side and user space share. */
#ifndef FS_RECORDS_RECORD_KINDS_H
#define FS_RECORDS_RECORD_KINDS_H

#define COMM_LEN	16
#define REPORT_LINE_LEN 192
#define CGROUP_PATH_LEN 512
#define PHASE_NAME_LEN	128

enum record_kind {
	RECORD_PROCESS = 1,
	RECORD_CROSSING,
	RECORD_REFUSED,
	RECORD_SIGNAL,
	RECORD_KERNEL_FAULT,
	/*
	 * At a FORK or EXEC record, user space reads the names of the live process from /proc.
	 * Recordings do not contain these records.
	 */
	RECORD_FORK,
	RECORD_EXEC,
	RECORD_STACK,
	RECORD_OOM,
	RECORD_CGROUP,
	RECORD_PRESSURE,
	RECORD_SLOW_FAULTS,
	RECORD_REPORT,
	RECORD_SAMPLE,
	RECORD_RETRY,
	RECORD_WALK,
	RECORD_CODE,
	RECORD_PYTHON_CODE,
	RECORD_STACK_COPY,
	RECORD_PACKED_PROCESS,
	RECORD_PACKED_WALK,
	/*
	 * User space creates the kinds below. Recordings contain these kinds, so that a replay
	 * needs no other data.
	 */
	RECORD_HOST = 64,
	RECORD_HOOK,
	RECORD_TICK,
	RECORD_NAMES,
	RECORD_SYMBOL,
	RECORD_END,
	RECORD_LIMITS,
	RECORD_GROWTH,
	RECORD_FRAMES,
	RECORD_HOLDING,
	RECORD_ORIGIN,
	RECORD_LEVELS,
	/* First records of a replay: each describes a field that this version does not know. */
	RECORD_FIELD,
	RECORD_FRAME_LIST,
	RECORD_RESIDENT,
	RECORD_RESIDENT_SUM,
	RECORD_PHASE,
	RECORD_PROBE_COST,
};

/* Flags of a process, in the member `flags` of struct gauges. */
#define PROC_BORN      1u   /* a probe saw the fork, so counters are complete */
#define PROC_WATCHED   2u   /* the process is a target or a followed child */
#define PROC_FOLLOW    4u   /* children of the process are watched too */
#define PROC_FINAL     8u   /* last record of the process, which is exiting */
#define PROC_SHARES_MM 16u  /* vfork child that uses the mappings of its parent */
#define PROC_COMMAND   32u  /* command that `faultscope run` started */
#define PROC_NO_MM     64u  /* memory is freed: map and fd values are the last known ones */
#define PROC_NO_COUNT  128u /* no probe reported the map count, and the scan cannot read it */
/* Flags in the state of BPF programs, which records never contain. */
#define PROC_LEFT   256u  /* counters are in the table of processes without a leader */
#define PROC_HALF   512u  /* counters are being moved to the table of processes without a leader */
#define PROC_ORPHAN 1024u /* the state is in the table of processes without a leader */
#define PROC_TIMED  2048u /* all its faults are timed, not only those that may read a file */
#define PROC_MOVED  4096u /* changes each time the state moves to a new leader */
#define PROC_KEPT   (PROC_LEFT | PROC_HALF | PROC_ORPHAN | PROC_TIMED | PROC_MOVED)

enum what { WHAT_MAPS, WHAT_FDS };

/* Flags of a signal record. */
#define SIGNAL_ODD   1u /* a register holds a non-canonical address */
#define SIGNAL_FATAL 2u /* the signal has no handler and kills the process */
#define SIGNAL_ASIDE 4u /* the thread was on its alternate signal stack, in a handler */

/* Whether a memory address is in a mapping. */
enum mapped { MAPPED_UNKNOWN, MAPPED_NONE, MAPPED_FOUND };

/* Why the OOM killer ran; values as in enum oom_constraint of include/linux/oom.h. */
enum oom_constraint {
	OOM_UNKNOWN,
	OOM_NONE, /* the whole machine is out of memory */
	OOM_CPUSET,
	OOM_POLICY,
	OOM_MEMCG,
};

/* faults that are slow are sampled more often by this factor; a power of two */
#define SAMPLE_EACH 64

/*
 * Whether a range of mappings was read: WALK_NONE: no, WALK_DONE: completely, WALK_BUSY: it changed
 * meanwhile, WALK_CUT: it was too long.
 */
enum walk { WALK_NONE, WALK_DONE, WALK_BUSY, WALK_CUT };

/* Flags of the file or file descriptor that a call named. */
#define FILE_KNOWN    1u /* the call named an open file descriptor */
#define FILE_CLOSED   2u /* the call named a file descriptor that is not open */
#define FILE_MAPPABLE 4u /* the file can be mapped: its driver has an mmap method */
#define FILE_NOEXEC   8u /* the mount has noexec, or the file system does not support exec */
#define FILE_DELETED  16u
/* for a row of growth: samples counted some of the fds, so that the counts are estimates */
#define GROWTH_SAMPLED 32u
#define FILE_NAME_LEN  40

/* Facts about a failed call and its process. */
#define FACT_LOCKS_FUTURE 1u /* mlockall(MCL_FUTURE) is in force */
/* the process has CAP_IPC_LOCK; the next three bits are other capabilities */
#define FACT_IPC_LOCK 2u
#define FACT_RESOURCE 4u
#define FACT_ADMIN    8u
#define FACT_RAWIO    16u
#define FACT_ROOT     32u /* initial root user, to whom RLIMIT_NPROC does not apply */
#define FACT_MDWE     64u /* PR_SET_MDWE: no memory may be both writable and executable */
/* the kernel searched for a free address range in this call, and found none */
#define FACT_NO_AREA	   128u
#define FACT_SAID_COMMIT   256u /* the kernel logged during the call: commit limit exceeded */
#define FACT_SAID_FILE_MAX 512u
#define FACT_COMPAT	   1024u /* the failed call is a 32-bit system call */
#define FACT_PIDS_OVER	   4096u /* the init process of the pid namespace has exited */
/* the process has a seccomp filter, which may have returned the errno instead of the kernel */
#define FACT_FILTERED 2048u
#define FACT_QUEUE    16384u /* the call is mq_open, which counts as CALL_OPEN */
/* Only user space sets this bit, when a struct retry_record follows. */
#define FACT_RETRIED 8192u /* the thread repeated the request in another form, with success */

/* A retry counts only within this time after the failed call, including waits for a CPU. */
#define RETRY_NS 500000000ULL

/*
 * Limits that are kernel variables. Their values are read when a call fails, because /proc may show
 * a later value. The variables are found by name with CONFIG_KALLSYMS_ALL. X(id, symbol, offset,
 * size): `offset` is the position in the symbol's object; FILE_MAX follows two counters in
 * files_stat (include/linux/fs.h).
 */
#define VARIABLES(X)                                                                               \
	X(MAX_MAP_COUNT, "sysctl_max_map_count", 0, 4)                                             \
	X(OVERCOMMIT, "sysctl_overcommit_memory", 0, 4)                                            \
	X(OVERCOMMIT_RATIO, "sysctl_overcommit_ratio", 0, 4)                                       \
	X(OVERCOMMIT_KBYTES, "sysctl_overcommit_kbytes", 0, 8)                                     \
	X(RAM_PAGES, "_totalram_pages", 0, 8)                                                      \
	X(SWAP_PAGES, "total_swap_pages", 0, 8)                                                    \
	X(NR_OPEN, "sysctl_nr_open", 0, 4)                                                         \
	X(FILE_MAX, "files_stat", 16, 8)                                                           \
	X(PIPE_HARD, "pipe_user_pages_hard", 0, 8)                                                 \
	X(PIPE_MAX, "pipe_max_size", 0, 4)                                                         \
	X(THREADS_MAX, "max_threads", 0, 4)                                                        \
	X(THREADS, "nr_threads", 0, 4)                                                             \
	X(EPOLL_WATCHES, "max_user_watches", 0, 8)

enum variable {
#define X(id, symbol, offset, size) VARIABLE_##id,
	VARIABLES(X)
#undef X
		NR_VARIABLES,
};

#define NAME_FILLER		 1
#define GROWTH_ANON(prot, flags) (((prot)&7) << 24 | ((flags)&0x1fffff))

#ifndef GROWTH_MAX
#define GROWTH_MAX 8192 /* maximum number of growth entries; a power of two */
#endif

#define STACKS_MAX   8192 /* maximum number of stored stacks; a stack's number is not reused */
#define STACK_FRAMES 48
#define WALK_FRAMES  256 /* of a walk by tables; a power of two */
#define WALK_INNER   192 /* of these, innermost frames of a deeper stack */
#define WALK_PYTHON  128 /* frames of CPython in it; a power of two */

/*
 * Kinds of mappings and file descriptors. X(id, name): the name is the JSON value. GUARD is
 * anonymous memory without any access right (PROT_NONE).
 */
#define HOLDING_KINDS(X)                                                                           \
	X(ANONYMOUS, "anonymous")                                                                  \
	X(GUARD, "guard")                                                                          \
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

enum holding_kind {
#define X(id, name) HOLDING_##id,
	HOLDING_KINDS(X)
#undef X
		NR_HOLDING_KINDS,
};

#endif
