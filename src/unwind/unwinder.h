/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: gives the BPF program what it needs to walk user stacks: the executable mappings of the
 * processes that it asks for, and an unwind table of each file. The event loop calls this module to
 * do the work in pieces.
 *
 * unwinder_note(u, &process) is called when the BPF program asks for a process. unwinder_work(u,
 * UNWINDER_PIECE_NS) is called in each round of the loop.
 */
#ifndef FS_UNWIND_UNWINDER_H
#define FS_UNWIND_UNWINDER_H

#include "records/records.h"
#include "unwind/code_files.h"
#include "unwind/mapped_code.h"
#include "unwind/stack_copies.h"

/* target duration of a piece of work */
#define UNWINDER_PIECE_NS 10000000ULL

/* Counters of memory and work, for `doctor` and tests. */
struct unwinder_figures {
	__u64 processes; /* number of reads of a process's mappings, repeated reads included */
	__u64 files;	 /* number of files that are known now */
	__u64 tables;	 /* number of tables that were made since the start */
	__u64 freed;
	__u64 no_room;	  /* number of tables for which there was no memory below the limit */
	__u64 unreadable; /* number of files that could not be read */
	__u64 bytes;	  /* bytes of kernel memory that the tables use now */
	__u64 walked;	  /* number of copied stacks that were walked, and that were dropped */
	__u64 dropped;
	__u64 work_ns;
	__u64 longest_piece_ns;
};

struct unwinder;

/* Returns a new unwinder; NULL if the BPF object has no maps for tables, or memory is short. */
struct unwinder *unwinder_new(const struct bpf_object *object);
void unwinder_free(struct unwinder *u);

/*
 * Begins to allocate memory for tables in a thread: see unwind_maps_prepare(). Call
 * unwinder_settle() before privileges are dropped, because the thread keeps them.
 */
void unwinder_prepare(struct unwinder *u);
void unwinder_settle(struct unwinder *u);

/* Limits the memory of all tables to this many bytes. */
void unwinder_set_ceiling(struct unwinder *u, size_t bytes);

/*
 * Requests a read of a process's mappings. It is done at once, or soon after the previous read of
 * the process.
 */
void unwinder_note(struct unwinder *u, const struct process_key *of);

/* Sets the function that is called with each copied stack after it was walked. */
void unwinder_on_walked(struct unwinder *u, stack_walked_fn *walked, void *ctx);

/* Takes a copied stack, and requests a read of the mappings of its process. */
void unwinder_copy(struct unwinder *u, const struct stack_copy_record *r);

/* Returns whether copied stacks wait for their tables. */
bool unwinder_waits(const struct unwinder *u);

/*
 * Works for about `budget_ns`. Returns the number of milliseconds until there is more work, 0 if
 * there is more now, or -1 if there is none until the next unwinder_note().
 */
int unwinder_work(struct unwinder *u, __u64 budget_ns);

/*
 * Finds the file and the offset in it that an address had when the stack was walked. `generation`
 * is from the stack's record, because the process may run another program by now. Returns false if
 * there is no file with a build ID.
 */
bool unwinder_find(const struct unwinder *u, __u32 generation, __u64 ip,
		   __u8 ret_build_id[BUILD_ID_BYTES], __u64 *ret_offset);

void unwinder_figures(const struct unwinder *u, struct unwinder_figures *ret);

#endif
