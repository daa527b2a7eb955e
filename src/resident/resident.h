/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: says which call stacks hold the resident memory of a process. BPF programs note the
 * stack of each fault of a random part of all pages (bpf/resident.bpf.h). This module reads which
 * of these pages are in memory now, and estimates what each stack holds.
 */
#ifndef FS_RESIDENT_RESIDENT_H
#define FS_RESIDENT_RESIDENT_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "probe/source.h"

#define RESIDENT_WANTED_MAX 256 /* maximum number of wanted processes, see resident_want() */

/* A process to read. */
struct resident_process {
	struct process_key id;
	__u32 pid; /* pid in the /proc that faultscope sees */
	/*
	 * The parent, if pages may be inherited (pid 0: none), and the time of the fork by
	 * CLOCK_MONOTONIC. They are needed only when the process is read for the first time.
	 */
	struct process_key parent;
	__u64 forked_ns;
	/* the process was watched since its start, or since it began to execute its program */
	bool born;
	__u32 execs; /* number of programs that the process has executed */
};

struct resident;

/*
 * Returns a reader for the programs of a loaded object, which must outlive it; NULL: the object has
 * no such programs, they choose no pages, or memory is short.
 */
struct resident *resident_new(const struct bpf_object *object);
void resident_free(struct resident *r);

/* Starts to choose one of `each` pages; `each` is a power of two. */
void resident_begin(struct resident *r, __u32 each);

/* Returns whether a process has ended. */
typedef bool resident_ended_fn(void *ctx, const struct process_key *of);

/*
 * Call resident_prepare() before the processes of a round are read, and resident_finish() after
 * them. Both return 0 or -errno. A round need not read all processes. resident_finish() forgets
 * processes that have ended, and chooses fewer pages if the kernel's map fills up.
 */
int resident_prepare(struct resident *r);
int resident_finish(struct resident *r, resident_ended_fn *has_ended, void *ctx);

/*
 * Opens the files of a process that is not known yet, but will be read. faultscope may later have
 * lost the right to see numbers of page frames.
 */
void resident_expect(struct resident *r, __u32 pid);
/*
 * If all processes of the machine are watched, pages are chosen only in wanted processes, and in
 * children that they fork from then on. Returns false if there are RESIDENT_WANTED_MAX others that
 * have not ended. A process that ends is no longer wanted; call resident_unwant() for one that may
 * have ended before the call of resident_want().
 */
bool resident_want(struct resident *r, const struct process_key *id);
void resident_unwant(struct resident *r, const struct process_key *id);
/* Returns whether pages of a process are chosen since its parent forked it. */
bool resident_wanted_since_fork(const struct resident *r, const struct process_key *id);
bool resident_knows(const struct resident *r, const struct process_key *id);

/*
 * Opens the files of a process while faultscope may do so. Returns 0 or -errno. resident_read()
 * does it too, if it was not done.
 */
int resident_open(struct resident *r, const struct resident_process *p);

/*
 * Reads a process, and sends records of kind RECORD_RESIDENT and a RECORD_RESIDENT_SUM. Returns 0,
 * -errno (-ESRCH: the process has ended), or the result of the sink.
 */
int resident_read(struct resident *r, const struct resident_process *p, const struct sink *sink);

#endif
