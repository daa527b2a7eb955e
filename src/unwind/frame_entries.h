/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwind: the frame description entries (FDEs) of an .eh_frame section, sorted by address. */
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

struct frame_entries {
	const struct cfi_section *section; /* borrowed */
	struct cfi_run run;
	struct known_cie cie[CIE_CACHE];
	struct frame_entry *entry; /* owned */
	size_t n;
	size_t room;
	size_t dropped; /* number of entries that cannot be read or that do not describe code */
	bool cut;	/* true: entries were not read, because of a cap or after a damaged entry */
};

/* Returns whether an address is in code. Entries for other addresses are dropped. */
typedef bool is_code_fn(void *ctx, __u64 address);

/* Reads the entries. Returns a new object, or NULL. */
struct frame_entries *frame_entries_read(const struct cfi_section *s, enum cfi_machine machine,
					 is_code_fn *is_code, void *ctx);
void frame_entries_free(struct frame_entries *f);

/* Reports the states of one function. Returns 0 or the error of cfi_run(). */
int frame_entry_run(struct frame_entries *f, const struct frame_entry *e, cfi_row_fn *row,
		    void *ctx, const struct cfi_cie **ret_cie);

#endif
