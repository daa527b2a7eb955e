/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: facts about a process, an event or the machine. BPF programs create the records of
 * kernel_records.h; user space creates all other records. A recording contains records of all
 * kinds, and the model reads them.
 */
#ifndef FS_RECORDS_RECORDS_H
#define FS_RECORDS_RECORDS_H

#include "records/kernel_records.h"

/* Value of a counter that is missing in an older recording. */
#define NOT_COUNTED (~0ULL)

/*
 * A flag of struct gauges that only user space sets. The record tells the state of a process in the
 * middle of its life: its counters began before the recording, even if PROC_BORN is set.
 */
#define PROC_RESUMED 4096u

static inline __u64 counted_or_0(__u64 n)
{
	return n == NOT_COUNTED ? 0 : n;
}

struct growth_record {
	struct record h;
	/*
	 * index of the row; below GROWTH_MAX, a later record with the same place and first_ns
	 * replaces this record
	 */
	__u32 place;
	__u32 pad;
	struct growth g;
};

#define FRAMES_SHORT  1u /* the outermost frame is not the start of a thread */
#define FRAMES_UNREAD 2u /* the process ended before its mappings were read */

/* A stack with function names: "symbol+0x12 (module)", one line per frame. */
struct frames_record {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 flags; /* flags of the stack: FRAMES_* bits */
	/* enum stack_end: why the walk with unwind tables ended; 0: frame pointers were followed */
	__u32 end;
	__u32 by_chain;	     /* number of frames that were found with a frame pointer alone */
	char user_line[176]; /* line of the user's Python code: "train.py:57 load"; empty: none */
	char text[7888];
};

/* Kinds of frames. X(id, name): the name is the JSON value. */
#define FRAME_KINDS(X)                                                                             \
	X(UNKNOWN, "unknown")                                                                      \
	X(NATIVE, "native")                                                                        \
	X(PYTHON, "python")                                                                        \
	X(JIT, "jit")                                                                              \
	X(GAP, "gap") /* frames are missing here */

enum frame_kind {
#define X(id, name) FRAME_##id,
	FRAME_KINDS(X)
#undef X
		NR_FRAME_KINDS,
};

#define FRAME_INLINED 1u /* the function was inlined into that of the next frame */
#define FRAME_USER    2u /* Python code that is neither the standard library nor installed */

/*
 * A frame of a stack. `function`, `file` and `module` are numbers of lines in the texts of the
 * record, from 1 on; 0: not known.
 */
struct frame_facts {
	/* address in the file of the module, as for addr2line; in memory for FRAME_JIT */
	__u64 offset;
	__u32 line; /* line in the source file; 0: not known */
	__u16 function;
	__u16 file;
	__u16 module;
	__u8 kind; /* enum frame_kind */
	__u8 flags;
};

#define LISTED_FRAMES 64

/*
 * Frames of a stack whose names a struct frames_record has. A record with `first` 0 begins a new
 * list, which replaces an earlier one. Further frames follow in further records.
 */
struct frame_list_record {
	struct record h;
	struct process_key subject;
	__s32 stack;
	__u32 first; /* index of frame[0] in the stack; the innermost frame has index 0 */
	__u32 n;     /* number of frames in this record */
	__u32 pad;
	struct frame_facts frame[LISTED_FRAMES];
	char texts[4096]; /* names of functions, files and modules, one per line */
};

/* Mappings or fds of a process at one moment, grouped by kind and folded name. */
struct holding {
	struct process_key subject;
	__u32 what; /* mappings or file descriptors: enum what */
	__u32 kind; /* kind of mapping or file: enum holding_kind */
	__u64 count;
	__u64 bytes; /* size of the mappings in bytes */
	/* 1: all have the name `name`; 2: `name` is a pattern that stands for several names */
	__u32 names;
	__u32 cut; /* 1 if some mappings or fds of the process were not read, else 0 */
	char name[160];
};

/* Who made memory resident, as far as it is known. */
enum resident_by {
	RESIDENT_TOUCHED,   /* the code that first touched the pages */
	RESIDENT_COPIED,    /* the code whose write copied pages that were shared after a fork */
	RESIDENT_INHERITED, /* code of the parent that touched the pages before the fork */
	RESIDENT_BEFORE,    /* the pages were resident before they were watched */
	/*
	 * no fault was seen: MAP_POPULATE, mlock(), get_user_pages(), mremap() or huge pages that
	 * the kernel made later
	 */
	RESIDENT_NO_FAULT,
	RESIDENT_NOT_CHOSEN, /* the kernel counts pages, but none of them was chosen */
	RESIDENT_NR_BY,
};

/*
 * Resident memory of a process that one call stack holds, or that no stack holds. Values are
 * estimates from a random part of the pages, except for huge pages, which are all counted.
 */
struct resident_record {
	struct record h;
	struct process_key subject;
	__u32 nth;   /* index of the row in its list; 0 starts a new list */
	__s32 stack; /* number of the user stack's record; < 0: no stack */
	__u32 by;    /* enum resident_by */
	__u32 kind;  /* kind of mapping: enum holding_kind */
	__u64 bytes; /* estimate of the bytes in memory */
	__u64 low;   /* 95 % confidence interval of `bytes` */
	__u64 high;
	__u64 swapped_bytes; /* estimate of the bytes in swap */
	__u64 huge_bytes;    /* the part of `bytes` in huge pages, exact */
	__u64 pages;	     /* number of chosen pages that were found in memory or swap */
	__s32 before; /* RESIDENT_COPIED: stack that touched the pages before; < 0: unknown */
	__u32 pad;
	/* the process that `stack` and `before` belong to: the subject or an ancestor */
	struct process_key toucher;
	char file[FILE_NAME_LEN]; /* last part of the name of the file; empty: none */
};

/* Ends the list of struct resident_record of a process: the kernel's own totals. */
struct resident_sum_record {
	struct record h;
	struct process_key subject;
	__u32 rows;
	__u32 each; /* one of this many pages was chosen */
	/* RssAnon, RssFile, RssShmem, VmSwap and HugetlbPages of /proc/PID/status */
	__u64 anon_bytes;
	__u64 file_bytes;
	__u64 shmem_bytes;
	__u64 swap_bytes;
	__u64 hugetlb_bytes;
	__u64 watched_ns; /* time since the process was first read */
	__u64 took_ns;	  /* CPU time of this reading */
	__u64 lost;	  /* faults of chosen pages that could not be noted since the start */
};

struct holding_record {
	struct record h;
	__u32 nth; /* index in the list of this process and `what`; 0 starts a new list */
	__u32 pad;
	struct holding g;
};

/*
 * The most restrictive cgroup of a process for memory, and for the number of tasks. User space
 * reads it. Memory values are in bytes, and reclaimable memory does not count as used.
 */
struct levels_record {
	struct record h;
	struct process_key subject;
	struct level_room memory;
	struct level_room pids;
};

/*
 * Where a limit of a process or of the host comes from, and commands that change the limit, as
 * texts.
 */
struct origin_record {
	struct record h;
	struct process_key subject; /* process that has the limit; all 0: the host */
	__u32 limit;		    /* index of the limit in the limit table of user space */
	__u32 host_wide;	    /* 1 if a change affects all containers too, else 0 */
	char set_by[320];
	/* workaround that lasts until the next start of the process, or until the next boot */
	char at_once[1024];
	char for_good[1024];
	char cost[320];
};

struct host_limits {
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
	__u64 huge_page_bytes; /* default size of huge pages */
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

/* Limits of the machine when a call failed. This record precedes the record of the failed call. */
struct limits_record {
	struct record h;
	struct host_limits limits;
};

/* The record that ends a scan. User space creates this record once per interval. */
struct tick_record {
	struct record h;
	__u64 wall_ns; /* time of the scan: CLOCK_REALTIME */
	struct losses losses;
	struct host_limits limits;
	__u64 own_cpu_ns;
	__u64 own_bpf_ns;
	__u64 own_rss_bytes;
	__u64 own_tables_bytes; /* kernel memory of BPF maps */
	__u64 own_state_bytes;	/* kernel memory of the state of processes and threads */
	__u64 look_ns;
	/* number of stack walks with unwind tables, by enum stack_end */
	__u64 walk_ends[STACK_ENDS_MAX];
};

struct host_record {
	struct record h;
	__u64 wall_ns;
	__u64 interval_ns;
	__u32 tiers; /* bit i: overhead level i is enabled */
	__u32 cpus;
	char version[32];
	char kernel[96];
	char arch[16];
	char host[64];
	char boot_id[40];
	char mode[16];
	char target[128];
	__s32 zone_s; /* offset of the host's time zone from UTC at the start, in seconds */
	__u32 zone_known;
};

struct hook_record {
	struct record h;
	__u32 tier;
	__u32 state; /* state of the probe: enum hook_use */
	__u32 lacks; /* LACKS_* bits of the attach type in use */
	__u32 pad;
	char name[24];
	char mechanism[24];
	char why[160];
};

/* Run statistics of the BPF programs of a probe. A scan sends them before its tick record. */
struct probe_cost_record {
	struct record h; /* has the time of the tick record */
	__u64 runs, run_ns;
	char name[24]; /* name of the probe; "other": programs that belong to no probe */
};

/*
 * What an attach type of a probe does not report (LACKS_*) or reports in addition (SEES_*), and
 * what it costs other processes (SPARES_*, TAXES_*).
 */
#define LACKS_ACCESS	 1u  /* the attach type does not report read, write or exec */
#define LACKS_PROTECTION 2u  /* the attach type does not report whether the page was present */
#define LACKS_AREA	 4u  /* the attach type lacks the mapping at a signal's address */
#define SEES_KERNEL	 8u  /* the attach type reports kernel-mode faults too */
#define LACKS_COPIES	 16u /* user copies are not reported, only bad kernel-mode faults are */
#define LACKS_MINOR	 32u /* the attach type does not report the latency of minor faults */
#define LACKS_COMPAT	 128u /* system calls of 32-bit programs are not reported */
#define LACKS_OTHERS	 64u /* only processes of faultscope's own pid namespace are reported */
#define LACKS_SPINNING	 256u /* threads that spin for a lock are not reported */
#define LACKS_WRITES	 512u /* failed writes to files in memory are not reported */
/* system calls that are not counted cost nothing: the kernel takes no slow path for them either */
#define SPARES_CALLS	 1024u
#define TAXES_SWITCHES	 2048u /* a program runs at each switch between processes */

enum hook_use { HOOK_OFF, HOOK_ON, HOOK_BLIND };

/* Value of hook_record.why if the user disabled the probe: --probe NAME=none. */
#define SWITCHED_OFF "switched off by --probe"

#define COMMAND_LINE_MAX 512 /* a longer command line is cut, and ends in "..." */

/* Names of a process from /proc, NUL-terminated and cut to size. */
struct names_record {
	struct record h;
	struct process_key subject;
	char exe[256];
	char cgroup[256];
	char command[COMMAND_LINE_MAX]; /* arguments, separated by blanks; empty: not known */
	char user[32];			/* name of the user; empty: not known */
};

struct symbol_record {
	struct record h;
	__u64 ip;
	char symbol[64];
	char module[64];
};

#define END_FULL 1u /* the recording reached its maximum size */

/*
 * A field of a recording that this version does not know. The values of the field follow the
 * records that have the field.
 */
struct field_record {
	struct record h;
	__u32 of;   /* kind of record: enum record_kind, or an unknown kind */
	__u32 type; /* type of the field's values: enum value_type */
	__u32 size; /* bytes of an element of the field */
	/*
	 * number of elements of this field that this version knows: values contain only the
	 * elements after them
	 */
	__u32 from;
	__u32 count;
	__u32 pad;
	char record[32]; /* name of the record kind */
	char name[64];
	char unit[16];
};

/* The watched program begins a phase, and ends the phase before. It comes just after a scan. */
struct phase_record {
	struct record h;
	char name[PHASE_NAME_LEN]; /* NUL-terminated and cut to size; empty: no phase begins */
};

struct end_record {
	struct record h;
	__u32 reason; /* why the recording ended; 0: as requested; other values are END_* bits */
	__u32 pad;
};

#endif
