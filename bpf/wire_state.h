/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of wire.h that describes the state of a process: what BPF programs keep of each process,
 * and the record in which they send its counters.
 *
 * Most processes of a machine are idle. The state is therefore kept in parts. Every watched process
 * has struct fs_state. Each of the other parts exists from the first event that it counts.
 */
#ifndef FS_WIRE_STATE_H
#define FS_WIRE_STATE_H

#include "records/kernel_records.h"
#include "wire_fault.h"

/* BPF programs read counters in chunks of this many words. */
#define FS_CHUNK 16

struct fs_words {
	__u64 word[FS_CHUNK];
};

#define FS_CHUNKS_OF(type) ((sizeof(type) / sizeof(__u64) + FS_CHUNK - 1) / FS_CHUNK)

/* X(part, PART, group): the groups of counters that are created when they are needed. */
#define FS_PARTS(X)                                                                                \
	X(mappings, MAPPINGS, struct mapping_counters)                                             \
	X(descriptors, DESCRIPTORS, struct descriptor_counters)                                    \
	X(stalls, STALLS, struct stall_counters)                                                   \
	X(classes, CLASSES, struct class_counters)

struct mapping_counters {
	MAPPING_COUNTERS
};

struct descriptor_counters {
	DESCRIPTOR_COUNTERS
};

struct stall_counters {
	STALL_COUNTERS
};

struct class_counters {
	CLASS_COUNTERS
};

/* The counters of a part, filled up to whole chunks. */
#define FS_COUNTERS(group)                                                                         \
	union {                                                                                    \
		group c;                                                                           \
		struct fs_words chunk[FS_CHUNKS_OF(group)];                                        \
	}

struct fs_events {
	FS_COUNTERS(struct event_counters);
};

struct fs_mappings {
	FS_COUNTERS(struct mapping_counters);
};

struct fs_descriptors {
	FS_COUNTERS(struct descriptor_counters);
	/* The members below are not sent. */
	__u32 churn;	    /* number of fds closed in a second, as count_churn() counts them */
	__u32 churn_second; /* that second, in units of 2^30 ns; wraps to 0 */
};

struct fs_stalls {
	FS_COUNTERS(struct stall_counters);
};

struct fs_classes {
	FS_COUNTERS(struct class_counters);
};

/*
 * The state of a process in the kernel. User space only creates this state, with `flags` set and
 * all other members 0.
 */
struct fs_state {
	/*
	 * What a scan reads of a process that did not change, in one cache line: the line begins
	 * with 8 bytes of the kernel (struct bpf_local_storage_data).
	 */
	__u64 start_ns;	    /* start time of the process; 0: not known yet */
	__u64 ran_ns;	    /* run time of the only thread at the last scan; 0: read all values */
	__u64 from_outside; /* hash of values that other processes may change, at the last scan */
	__s64 rss_pages;    /* rss_figure() of the process at the last scan */
	/* 1 if a counter changed since the last scan, else 0; set after the change */
	__u32 counted;
	__u32 flags;	    /* PROC_* bits; placed near members that each probe writes */
	__u32 threads : 31; /* number of threads at the last scan */
	__u32 stirred : 1;  /* value of `counted` at the last scan */
	__u32 epoch;	    /* number of the last scan that saw the process */
	__u64 signature;    /* hash of the values that the last scan sent */

	__u64 cpu_ns;	      /* CPU time of all threads, also dead ones, at the last scan */
	__u32 last_map_count; /* map count at the last event; 0: not known yet */
	__u32 map_count;
	__u32 map_high;
	__u32 fd_high;
	__u32 fds;
	/* Index in config.mark_percent of the next threshold to cross, for each enum what. */
	__u32 marks[2];
	__u32 execs;
	__u32 fd_base;
	__u32 fd_limit; /* low 32 bits of the soft limit when fd_high was last updated */
	__u32 pid;	/* pid in the initial pid namespace; 0: not scanned yet */
	__u32 noted;	/* number of threads with a note (note_down() in refusal.bpf.h) */
	__u32 owners;	/* number of open fds whose creator is recorded */
	__u32 swap_ins; /* number of faults that read from swap and are not sent yet */
	__u64 min_flt;	/* minor faults of all threads, also dead ones, when last summed */
	__u64 maj_flt;
	__u64 reclaim_ns; /* time in direct reclaim that is not sent yet */
	/* The time of the last failed request for memory; 0: none, or a retry succeeded. */
	__u64 refused_ns;
	__u64 refused_bytes; /* size of the failed request */
	__u32 refused_tid;   /* pid of the thread whose request failed */
	__u32 stored;	     /* bit i: this process is counted in fs_shared.stored[i] */
	/* Thread that holds mmap_lock in a call while others wait; 0: none (contention.bpf.h). */
	__u32 holder_tid;
	__u32 holds_us; /* time when the first thread began to wait for holder_tid; wraps to 0 */
	struct fs_events events;
};

/* All parts of the state of a process in one piece, where they are not kept apart. */
struct fs_whole_state {
	struct fs_state st;
	struct fs_fault_slot slot; /* last page fault of the leader thread */
#define X(part, PART, group) struct fs_##part part;
	FS_PARTS(X)
#undef X
};

/* What BPF programs keep of processes and threads: indexes of fs_shared.stored. */
enum fs_stored {
	FS_STORED_STATE,
#define X(part, PART, group) FS_STORED_##PART,
	FS_PARTS(X)
#undef X
		FS_STORED_SLOT,
	FS_STORED_MAX,
};

/* The last fault of a leader thread, which is not in the counters of its process yet. */
struct fs_pending {
	__u64 ns; /* duration of the fault; 0: no fault is pending */
	__u64 end;
	__u64 bucket;
	__u64 class; /* class of the fault; NR_CLASSES or above: not classified */
	__u64 read_bytes;
	__u64 waited_ns[NR_WAITS];
	__u64 none[FS_CHUNK - 5 - NR_WAITS];
};

/* Number of chunks in a record: those of all counters, then the pending fault. */
#define X(part, PART, group) +FS_CHUNKS_OF(group)
#define FS_CHUNKS	     (FS_CHUNKS_OF(struct event_counters) FS_PARTS(X) + 1)
enum { FS_ALL_CHUNKS = FS_CHUNKS };
#undef X
#undef FS_CHUNKS

#define FS_PACKED_WORDS 512 /* a power of two, at least FS_ALL_CHUNKS * FS_CHUNK */
#define FS_PACKED_MASKS 32

/*
 * RECORD_PACKED_PROCESS: a struct process_record without those counters that are 0. Begins like a
 * struct process_record, and ends after the last word.
 */
struct fs_packed_process {
	struct record h;
	struct process_key subject;
	struct gauges g;
	struct usage u;
	__u16 mask[FS_PACKED_MASKS]; /* for each chunk: bit i: `word` has word i of the chunk */
	__u64 word[FS_PACKED_WORDS];
};

/*
 * The kernel allocates 72 bytes in front of an element of task storage, since 6.2 also 8 bytes of
 * its allocator (LLIST_NODE_SZ, kernel/bpf/memalloc.c), and rounds the sum up to a power of two. An
 * idle process has only the first part, which takes 512 bytes.
 */
#define FS_STORAGE_HEADER 80
_Static_assert(__builtin_offsetof(struct fs_state, cpu_ns) + 8 <= 64, "one cache line");
_Static_assert(sizeof(struct fs_state) + FS_STORAGE_HEADER <= 512, "one object of 512 bytes");
_Static_assert(sizeof(struct fs_mappings) + FS_STORAGE_HEADER <= 1024, "1 KiB");
_Static_assert(sizeof(struct fs_descriptors) + FS_STORAGE_HEADER <= 512, "512 bytes");
_Static_assert(sizeof(struct fs_stalls) + FS_STORAGE_HEADER <= 1024, "1 KiB");
_Static_assert(sizeof(struct fs_classes) + FS_STORAGE_HEADER <= 2048, "2 KiB");
_Static_assert(sizeof(struct fs_pending) == sizeof(struct fs_words), "one chunk");
_Static_assert(FS_ALL_CHUNKS <= FS_PACKED_MASKS, "a mask for each chunk");
_Static_assert(FS_ALL_CHUNKS *FS_CHUNK <= FS_PACKED_WORDS, "room for all words");

#endif
