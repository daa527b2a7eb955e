/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: one event of the flight recorder. */
#ifndef FS_RECORDS_PRECURSOR_RECORD_H
#define FS_RECORDS_PRECURSOR_RECORD_H

#include "records/precursor_kinds.h"
#include "records/kernel_records.h"

/* A range of vmalloc or ioremap that a driver freed. */
struct freed_area {
	__u64 start;
	__u64 bytes;
	__u64 owner; /* address of the instruction that allocated it */
	__u64 freer; /* address of the instruction that freed it */
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
	__u64 count;   /* equal events so far */
	__u64 dropped; /* events of this kind for which there was no record */
	__u64 arg[8];
	__u64 regs[PRE_REGS];
	struct freed_area area; /* the freed range that contained the address; bytes 0: none */
	__u8 code[PRE_CODE];	/* the instruction starts at PRE_CODE_AT */
	__s64 stack_bytes;
	__u64 stack[PRE_STACK];
	char comm[COMM_LEN];
	char text[PRE_TEXT];
};

#endif
