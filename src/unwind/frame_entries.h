/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the frame description entries (FDEs) of an .eh_frame section, sorted by address. The work
 * is done in pieces, so that a large section does not hold up the event loop. `left` is the work
 * that a call may do; one unit takes about 10 ns.
 */
#ifndef FS_UNWIND_FRAME_ENTRIES_H
#define FS_UNWIND_FRAME_ENTRIES_H

#include "unwind/cfi_state.h"

#define FRAME_ENTRIES_MAX (4u << 20) /* 64 MiB */
#define CIE_CACHE	  64
#define CFI_WORK	  (24u << 20) /* maximum number of instructions that are run for one file */

struct frame_entry {
	__u64 start;
	__u32 bytes;
	__u32 at; /* offset of the entry in the section */
};

struct known_cie {
	bool known;
	int err; /* error with which reading the CIE failed; 0: none */
	size_t at;
	struct cfi_cie cie;
	struct cfi_state state; /* state in which each function of this CIE begins */
};

/* A merge sort: two neighbouring runs of `width` sorted entries become one run in `spare`. */
struct entry_sort {
	struct frame_entry *spare; /* owned */
	size_t width;
	size_t done;  /* number of entries of this pass that are in `spare` */
	size_t a, b;  /* next entry of the two runs that are being merged */
	size_t a_end; /* end of the first run, and begin of the second one */
	size_t b_end;
};

/* Zero-initialise, then frame_entries_begin(). */
struct frame_entries {
	struct cfi_section section;
	struct cfi_run run;
	struct known_cie cie[CIE_CACHE];
	struct frame_entry *entry; /* owned */
	size_t n;
	size_t room;
	size_t at;   /* offset of the next entry to read */
	bool listed; /* true: all entries are read */
	bool disordered;
	bool sorted;
	struct entry_sort sort;
	size_t dropped; /* number of entries that cannot be read or that do not describe code */
	bool cut;	/* true: entries were not read, because of a cap or after a damaged entry */
};

/* Returns whether an address is in code. Entries for other addresses are dropped. */
typedef bool is_code_fn(void *ctx, __u64 address);

/* Begins to read the entries. The bytes of the section are borrowed. */
void frame_entries_begin(struct frame_entries *f, const struct cfi_section *s,
			 enum cfi_machine machine);

/* Reads and sorts entries. Returns -EAGAIN if there are more, 0 at the end, or -ENOMEM. */
int frame_entries_read(struct frame_entries *f, is_code_fn *is_code, void *ctx, __u64 *left);
void frame_entries_free(struct frame_entries *f);

/*
 * Begins to run the instructions of one function. frame_entry_run() reports the states. Both return
 * 0, or the error of cfi_go_on(). Between the two, no other function may begin.
 */
int frame_entry_begin(struct frame_entries *f, const struct frame_entry *e,
		      const struct cfi_cie **ret_cie);
int frame_entry_run(struct frame_entries *f, cfi_row_fn *row, void *ctx, __u64 *left);

#endif
