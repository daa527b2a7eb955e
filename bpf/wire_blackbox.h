/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel side of the flight recorder hands over: one record a precursor. */
#ifndef FS_WIRE_BLACKBOX_H
#define FS_WIRE_BLACKBOX_H

#include "records/precursor_kinds.h"
#include "wire.h"

/* A range of vmalloc or ioremap that a driver gave back. */
struct fs_freed_area {
	__u64 start;
	__u64 bytes;
	__u64 owner; /* instruction that asked for it */
	__u64 freer; /* instruction that gave it back */
	__u64 freed_ns;
	__u64 flags; /* VM_IOREMAP 1, VM_ALLOC 2, VM_MAP 4: include/linux/vmalloc.h */
};
#define FS_FREED_AREAS 512

struct fs_precursor_record {
	struct fs_header h;
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
	struct fs_freed_area area; /* that the address was in; bytes 0: in none */
	__u8 code[PRE_CODE];	   /* the instruction is at PRE_CODE_AT of it */
	__s64 stack_bytes;
	__u64 stack[PRE_STACK];
	char comm[COMM_LEN];
	char text[PRE_TEXT];
};

/* Equal ones are counted, and told now and then. */
struct fs_equal_key {
	__u64 what;
	__u64 at;
};
struct fs_equal {
	__u64 count;
	__u64 told_ns;
};

/* What the loader tells the programs. */
struct fs_blackbox_config {
	__u64 text_start, text_end; /* of the kernel's own code; 0: not known */
	__u32 smap;
	__u32 marks;   /* bpf_trace_vprintk() may be called: 5.16 */
	__u64 hold_ns; /* that a panic waits for the recorder at most; 0: it does not */
};

struct fs_blackbox_shared {
	__u64 dropped[NR_PRECURSORS];
	__u64 faults_benign; /* user copies */
	__u64 areas;	     /* given back by drivers, until now */
	__u64 panic_cpu;     /* plus 1, of a panic that waits; 0: there is none */
	__u64 panic_kept;    /* the recorder's answer: all is kept, it need wait no more */
};

#endif
