/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: one note of the flight recorder. */
#ifndef FS_RECORDS_PRECURSOR_RECORD_H
#define FS_RECORDS_PRECURSOR_RECORD_H

#include "records/precursor_kinds.h"
#include "records/kernel_records.h"

/* A range of vmalloc or ioremap that a driver gave back. */
struct freed_area {
	__u64 start;
	__u64 bytes;
	__u64 owner; /* instruction that asked for it */
	__u64 freer; /* instruction that gave it back */
	__u64 freed_ns;
	__u64 flags; /* VM_IOREMAP 1, VM_ALLOC 2, VM_MAP 4: include/linux/vmalloc.h */
};

struct precursor_record {
	struct record h;
	__u32 what; /* enum precursor_kind */
	__u32 verdict;
	__u32 pid, tid, cpu, pad;
	__u64 ip;
	__u64 address;
	__u64 error_code;
	__u64 count;   /* of equal ones until now */
	__u64 dropped; /* of this sort: for which there was no record */
	__u64 arg[8];
	__u64 regs[PRE_REGS];
	struct freed_area area; /* that the address was in; bytes 0: in none */
	__u8 code[PRE_CODE];	/* the instruction is at PRE_CODE_AT of it */
	__s64 stack_bytes;
	__u64 stack[PRE_STACK];
	char comm[COMM_LEN];
	char text[PRE_TEXT];
};

#endif
