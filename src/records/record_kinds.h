/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: kinds, flags and lengths that kernel and user space share. */
#ifndef FS_RECORDS_RECORD_KINDS_H
#define FS_RECORDS_RECORD_KINDS_H

#define COMM_LEN	16
#define REPORT_LINE_LEN 192
#define CGROUP_PATH_LEN 512

enum record_kind {
	RECORD_PROCESS = 1,
	RECORD_CROSSING,
	RECORD_REFUSED,
	RECORD_SIGNAL,
	RECORD_KERNEL_FAULT,
	/* needed for names while live; not in recordings */
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
	/* created in user space; recordings hold them, so that a replay needs no other data */
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
	/* only in replays, before the others: a field that this version does not know */
	RECORD_FIELD,
};

/* Flags of a process. */
#define PROC_BORN      1u   /* a probe saw its fork: its counters are complete */
#define PROC_WATCHED   2u   /* a target, or a child of a target that is followed */
#define PROC_FOLLOW    4u   /* its children are watched too */
#define PROC_FINAL     8u   /* its last record: it is exiting */
#define PROC_SHARES_MM 16u  /* vfork child: the mappings are its parent's */
#define PROC_COMMAND   32u  /* the command that `faultscope run` started */
#define PROC_NO_MM     64u  /* its memory is freed: map and fd values are the last known */
#define PROC_NO_COUNT  128u /* no probe has seen its map count, and the scan cannot read it */
/* only in the kernel side's state, never in records: */
#define PROC_LEFT 256u /* its counters are in the table of processes without leader */
#define PROC_HALF 512u /* they are being moved there */
#define PROC_KEPT (PROC_LEFT | PROC_HALF)

enum what { WHAT_MAPS, WHAT_FDS };

/* Flags of a signal. */
#define SIGNAL_ODD   1u /* a register holds a non-canonical address */
#define SIGNAL_FATAL 2u /* no handler: the signal kills the process */
#define SIGNAL_ASIDE 4u /* its thread runs on its alternate stack: within a handler */

/* Whether an address is mapped. */
enum mapped { MAPPED_UNKNOWN, MAPPED_NONE, MAPPED_FOUND };

/* Why the OOM killer ran: enum oom_constraint of include/linux/oom.h. */
enum oom_constraint {
	OOM_UNKNOWN,
	OOM_NONE, /* the whole machine is out of memory */
	OOM_CPUSET,
	OOM_POLICY,
	OOM_MEMCG,
};

#define SAMPLE_EACH 64 /* one fault of so many is sampled at most; a power of two */

/* Whether a range of mappings was read completely. */
enum walk { WALK_NONE, WALK_DONE, WALK_BUSY, WALK_CUT };

/* Flags of a file. */
#define FILE_KNOWN    1u /* the call named an open file descriptor */
#define FILE_CLOSED   2u /* it named one that is not open */
#define FILE_MAPPABLE 4u /* its kind has an mmap method */
#define FILE_NOEXEC   8u /* mounted noexec, or its file system has no exec */
#define FILE_DELETED  16u
#define FILE_NAME_LEN 40

/* Known facts about a failed call. */
#define FACT_LOCKS_FUTURE  1u /* mlockall(MCL_FUTURE) is in force */
#define FACT_IPC_LOCK	   2u /* has these capabilities */
#define FACT_RESOURCE	   4u
#define FACT_ADMIN	   8u
#define FACT_RAWIO	   16u
#define FACT_ROOT	   32u	/* the initial root user: RLIMIT_NPROC does not apply */
#define FACT_MDWE	   64u	/* PR_SET_MDWE: no memory may be both writable and executable */
#define FACT_NO_AREA	   128u /* the search for a free range failed in this call */
#define FACT_SAID_COMMIT   256u /* the kernel logged this itself, within the call */
#define FACT_SAID_FILE_MAX 512u
#define FACT_COMPAT	   1024u /* a 32-bit call */
#define FACT_PIDS_OVER	   4096u /* the init process of its pid namespace has exited */
/* a seccomp filter may have returned the errno instead of the kernel */
#define FACT_FILTERED 2048u
#define FACT_QUEUE    16384u /* mq_open, among the calls that open something */
/* set only in user space, from a struct retry_record */
#define FACT_RETRIED 8192u /* its thread repeated the request in another form, with success */

/* A repeated request follows within this time, even if its thread waits for a CPU. */
#define RETRY_NS 500000000ULL

/*
 * Limits of the machine that are kernel variables, where CONFIG_KALLSYMS_ALL names them. Their
 * value at the moment of the failed call decided; a file of /proc that is read later may differ.
 * X(id, symbol, offset and size of the value).
 */
#define VARIABLES(X)                                                                               \
	X(MAX_MAP_COUNT, "sysctl_max_map_count", 0, 4)                                             \
	X(OVERCOMMIT, "sysctl_overcommit_memory", 0, 4)                                            \
	X(OVERCOMMIT_RATIO, "sysctl_overcommit_ratio", 0, 4)                                       \
	X(OVERCOMMIT_KBYTES, "sysctl_overcommit_kbytes", 0, 8)                                     \
	X(RAM_PAGES, "_totalram_pages", 0, 8)                                                      \
	X(SWAP_PAGES, "total_swap_pages", 0, 8)                                                    \
	X(NR_OPEN, "sysctl_nr_open", 0, 4)                                                         \
	X(FILE_MAX, "files_stat", 16, 8) /* behind two counts: include/linux/fs.h */               \
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
#define GROWTH_MAX 8192 /* entries of growth at a time; a power of two */
#endif

#define STACKS_MAX   8192 /* stacks at a time; numbers are not reused */
#define STACK_FRAMES 48

/* Kinds of mappings and file descriptors. X(id, name): the name is the JSON value. */
#define HOLDING_KINDS(X)                                                                           \
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

enum holding_kind {
#define X(id, name) HOLDING_##id,
	HOLDING_KINDS(X)
#undef X
		NR_HOLDING_KINDS,
};

#endif
