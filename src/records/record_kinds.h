/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: kinds, flags and lengths that the kernel side knows, too: each stands here once. */
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
	/* of use to live names alone: no recording holds them */
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
	/* made in user space; a recording holds them so that a replay needs nothing else */
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
	RECORD_FIELD, /* of replays alone, in front: a field that is not known here */
};

/* Flags of a process. */
#define PROC_BORN      1u   /* the hooks saw its fork: its counters are whole */
#define PROC_WATCHED   2u   /* a target, or a followed child of one */
#define PROC_FOLLOW    4u   /* its children are watched too */
#define PROC_FINAL     8u   /* this is its last record: it is exiting */
#define PROC_SHARES_MM 16u  /* vfork child: the mappings are its parent's */
#define PROC_COMMAND   32u  /* the command that `faultscope run` started */
#define PROC_NO_MM     64u  /* its memory is gone: map and fd figures are the last known */
#define PROC_NO_COUNT  128u /* no hook has seen its map count, and the look cannot */
/* of the kernel side's state alone, never of a record: */
#define PROC_LEFT 256u /* its counters are kept in the table of orphans now */
#define PROC_HALF 512u /* they are being moved to it */
#define PROC_KEPT (PROC_LEFT | PROC_HALF)

enum what { WHAT_MAPS, WHAT_FDS };

/* Flags of a signal. */
#define SIGNAL_ODD   1u /* a register holds what is an address in neither half */
#define SIGNAL_FATAL 2u /* nothing handles it: the process dies of it */
#define SIGNAL_ASIDE 4u /* its thread runs on its alternate stack: in a handler */

/* What is mapped at an address. */
enum mapped { MAPPED_UNKNOWN, MAPPED_NONE, MAPPED_FOUND };

/* Why the OOM killer was called: enum oom_constraint of include/linux/oom.h. */
enum oom_constraint {
	OOM_UNKNOWN,
	OOM_NONE, /* the machine's memory */
	OOM_CPUSET,
	OOM_POLICY,
	OOM_MEMCG,
};

#define SAMPLE_EACH 64 /* one in so many is the most that is asked for; a power of two */

/* Whether a range of mappings was looked at, whole. */
enum walk { WALK_NONE, WALK_DONE, WALK_BUSY, WALK_CUT };

/* Flags of a file. */
#define FILE_KNOWN    1u /* the call named an open descriptor */
#define FILE_CLOSED   2u /* it named one that is not open */
#define FILE_MAPPABLE 4u /* its kind has an mmap method */
#define FILE_NOEXEC   8u /* of a mount or file system without exec */
#define FILE_DELETED  16u
#define FILE_NAME_LEN 40

/* What is known of a refused call. */
#define FACT_LOCKS_FUTURE  1u /* mlockall(MCL_FUTURE) is in force */
#define FACT_IPC_LOCK	   2u /* capabilities */
#define FACT_RESOURCE	   4u
#define FACT_ADMIN	   8u
#define FACT_RAWIO	   16u
#define FACT_ROOT	   32u	/* the initial user: RLIMIT_NPROC does not bind it */
#define FACT_MDWE	   64u	/* memory that is written may not be executed */
#define FACT_NO_AREA	   128u /* the search for a free range failed in this call */
#define FACT_SAID_COMMIT   256u /* the kernel's own line in the log, in this call */
#define FACT_SAID_FILE_MAX 512u
#define FACT_COMPAT	   1024u  /* a 32-bit call */
#define FACT_PIDS_OVER	   4096u  /* the first process of its pid namespace has ended */
#define FACT_FILTERED	   2048u  /* a filter of seccomp may have answered in its place */
#define FACT_QUEUE	   16384u /* mq_open, of the calls that open something */
/* set in user space alone, by a struct retry_record */
#define FACT_RETRIED 8192u /* its thread asked again in another form, and was served */

/* A request that is made again at once comes within this, even if its thread waits for a CPU. */
#define RETRY_NS 500000000ULL

/*
 * Limits of the machine that the kernel keeps in variables of its own, where it names them (with
 * CONFIG_KALLSYMS_ALL): at the moment of a refusal they are what decided, and a file of /proc that
 * is read after it may say another thing by then. X(id, symbol, offset and size of the value).
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
#define GROWTH_MAX 8192 /* places at a time; a power of two */
#endif

#define STACKS_MAX   8192 /* stacks at a time: their numbers go on, and are not used again */
#define STACK_FRAMES 48

/* What a mapping or a descriptor is. X(id, name): the name is the JSON value. */
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
