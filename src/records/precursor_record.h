/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: one event of the flight recorder. */
#ifndef FS_RECORDS_PRECURSOR_RECORD_H
#define FS_RECORDS_PRECURSOR_RECORD_H

#include "records/precursor_kinds.h"
#include "records/kernel_records.h"

/* A vmalloc or ioremap range that a driver freed. */
struct freed_area {
	__u64 start;
	__u64 bytes;
	__u64 owner; /* address of the instruction that allocated the range */
	__u64 freer; /* address of the instruction that freed the range */
	__u64 freed_ns;
	__u64 flags; /* VM_IOREMAP 1, VM_ALLOC 2, VM_MAP 4: include/linux/vmalloc.h */
};

struct precursor_record {
	struct record h;
	__u32 what; /* kind of event: enum precursor_kind */
	__u32 verdict;
	__u32 pid, tid, cpu, pad;
	__u64 ip;
	__u64 address;
	__u64 error_code;
	__u64 count;   /* number of equal events, including this one */
	__u64 dropped; /* events of this kind that were dropped because all records were in use */
	__u64 arg[8];
	__u64 regs[PRE_REGS];
	struct freed_area area; /* freed range that contained `address`; bytes 0: there is none */
	__u8 code[PRE_CODE];	/* code around `ip`, which is at index PRE_CODE_AT */
	__s64 stack_bytes;
	__u64 stack[PRE_STACK];
	char comm[COMM_LEN];
	char text[PRE_TEXT];
};

#endif
