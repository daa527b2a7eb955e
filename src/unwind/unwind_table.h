/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unwind: the unwind table of one ELF file. table_maker.h makes it. */
#ifndef FS_UNWIND_UNWIND_TABLE_H
#define FS_UNWIND_UNWIND_TABLE_H

#include "collect/symbols/elf_headers.h"
#include "unwind/cfi_state.h"
#include "unwind/row_table.h"
#include "unwind/rule_set.h"

struct unwind_table {
	enum cfi_machine machine;
	struct row_table rows; /* rows by the file's own addresses; owned */
	/* rule of addresses that no FDE covers: FS_UNWIND_RULE_GAP or FS_UNWIND_RULE_CHAIN */
	__u16 gap_rule;
	__u64 text_bytes;    /* bytes of executable segments */
	__u64 covered_bytes; /* bytes of code that FDEs cover */
	/* bytes of covered code in which the frame pointer holds the frame address */
	__u64 framed_bytes;
	__u64 opaque_bytes; /* bytes of covered code that no rule can express */
	size_t fdes;
	size_t dropped; /* number of FDEs that could not be used */
	bool cut;	/* true: some FDEs were not read, because a cap was reached */
	struct {
		__u64 offset, address, bytes;
	} code[ELF_LOADS_MAX]; /* executable segments */
	unsigned int codes;
};

/*
 * Computes the difference between the addresses of a mapping and the file's own addresses. Returns
 * false if the file has no code at this offset.
 */
bool unwind_table_bias(const struct unwind_table *t, __u64 start, __u64 offset, __u64 *ret);

void unwind_table_free(struct unwind_table *t);

#endif
