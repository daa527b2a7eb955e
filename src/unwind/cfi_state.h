/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: runs the instructions of call frame information. Only the registers that a stack walk
 * needs are tracked.
 */
#ifndef FS_UNWIND_CFI_STATE_H
#define FS_UNWIND_CFI_STATE_H

#include "unwind/cfi_section.h"

#define CFI_REMEMBERED_MAX 16

enum cfi_machine { CFI_X86_64, CFI_ARM64 };

enum cfi_followed { CFI_SP, CFI_FP, CFI_RA, CFI_SAVED, NR_CFI_FOLLOWED };

enum cfi_place {
	CFI_UNSPECIFIED,
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_AT_CFA,	/* saved at CFA + offset */
	CFI_IS_CFA,	/* has the value CFA + offset */
	CFI_REGISTER,	/* saved in another register */
	CFI_EXPRESSION, /* saved at the address that an expression gives */
	CFI_VALUE,	/* has the value that an expression gives */
};

struct cfi_register {
	enum cfi_place place;
	__s64 offset;
	struct cfi_bytes expression;
};

struct cfi_state {
	bool cfa_is_expression;
	__u64 cfa_register;
	__s64 cfa_offset;
	struct cfi_bytes cfa_expression;
	struct cfi_register followed[NR_CFI_FOLLOWED];
};

struct cfi_run {
	enum cfi_machine machine;
	const struct cfi_cie *cie;
	__u64 work; /* number of instructions that may still be run */
	int depth;
	struct cfi_state remembered[CFI_REMEMBERED_MAX];
	/* The program that is being run. */
	struct cfi_bytes program;
	/* state after the CIE's instructions; borrowed; NULL: the CIE's own instructions are run */
	const struct cfi_state *initial;
	struct cfi_state s;
	__u64 address, end;
};

/*
 * Called with the state that holds from `address` up to the address of the next call. NULL: no
 * state is known there.
 */
typedef void cfi_row_fn(void *ctx, __u64 address, const struct cfi_state *s);

/* Returns the DWARF number of a register; -1: this machine does not need this register. */
int cfi_followed_number(enum cfi_machine machine, enum cfi_followed which);

/*
 * Begins to run the instructions of a function, for the addresses from `address` up to `end`.
 * `initial` is the state after the CIE's instructions, which stays in use until the end; NULL: the
 * instructions are the CIE's own.
 */
void cfi_begin(struct cfi_run *run, const struct cfi_cie *cie, struct cfi_bytes program,
	       const struct cfi_state *initial, __u64 address, __u64 end);

/*
 * Runs up to *left instructions, and takes them off *left. Returns -EAGAIN if there are more, 0 at
 * the end, -EBADMSG, -EOPNOTSUPP for an unknown instruction, or -E2BIG when `work` is used up.
 */
int cfi_go_on(struct cfi_run *run, __u64 *left, cfi_row_fn *row, void *ctx);

#endif
