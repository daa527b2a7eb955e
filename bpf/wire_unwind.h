/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of wire.h: the unwind tables, which say how to find the caller of a frame. User space makes
 * rows from the call frame information of each file (src/unwind). The BPF program and user space
 * both walk stacks with these rows.
 *
 * The text of a file is divided into pages of 64 KiB. The rows of a page are sorted by address. The
 * last row at or below an address has the rule of that address. Each page begins with a row for its
 * first byte.
 */
#ifndef FS_WIRE_UNWIND_H
#define FS_WIRE_UNWIND_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "records/record_kinds.h"
#include "records/stack_ends.h"

#define FS_UNWIND_PAGE_SHIFT 16
#define FS_UNWIND_PAGE_BYTES (1u << FS_UNWIND_PAGE_SHIFT)

struct fs_unwind_row {
	__u16 pc; /* offset of the row's address in its page */
	__u16 rule;
};

struct fs_unwind_page {
	__u32 first; /* index of the page's first row */
	__u32 rows;
};

/* A rule says how to find the caller's frame. One table of unique rules serves all files. */
struct fs_unwind_rule {
	__u8 cfa; /* enum fs_unwind_cfa */
	__u8 fp;  /* enum fs_unwind_fp, and above it FS_UNWIND_SAVED */
	__s16 fp_off;
	__s32 cfa_off;
};

/*
 * How to compute the canonical frame address (CFA): the value of the stack pointer before the call.
 */
enum fs_unwind_cfa {
	FS_UNWIND_CFA_GAP, /* the file has no call frame information for this address */
	/* no rule can express the file's call frame information for this address */
	FS_UNWIND_CFA_OPAQUE,
	FS_UNWIND_CFA_END,    /* the outermost function of a thread: there is no caller */
	FS_UNWIND_CFA_SIGNAL, /* the kernel's signal frame: all registers are on the stack */
	/*
	 * like FS_UNWIND_CFA_GAP, in a file whose functions keep frame pointers; cfa_off is 0 or
	 * FS_UNWIND_OTHER_STACK
	 */
	FS_UNWIND_CFA_CHAIN,
	FS_UNWIND_CFA_SP,	/* stack pointer + cfa_off */
	FS_UNWIND_CFA_FP,	/* frame pointer + cfa_off */
	FS_UNWIND_CFA_SP_DEREF, /* *(stack pointer + low half of cfa_off) + high half */
	FS_UNWIND_CFA_FP_DEREF, /* *(frame pointer + low half of cfa_off) + high half */
	/*
	 * in a PLT entry: sp + low half of cfa_off, and 8 more from byte (high half) of each 16
	 * bytes on
	 */
	FS_UNWIND_CFA_PLT,
	FS_UNWIND_CFA_SAVED, /* rbx + cfa_off (x86-64) */
	/*
	 * stack pointer + cfa_off, with the return address in the register whose DWARF number is
	 * fp_off; glibc's vfork() (x86-64)
	 */
	FS_UNWIND_CFA_RA_REGISTER,
	/* plus the DWARF number of a register; usable only where all registers are known */
	FS_UNWIND_CFA_REGISTER = 32,
};

/* The function may have changed to another stack, so the caller's frame can be at any address. */
#define FS_UNWIND_OTHER_STACK 1

/* Indices of the rules that are always present. */
enum fs_unwind_fixed {
	FS_UNWIND_RULE_GAP,
	FS_UNWIND_RULE_OPAQUE,
	FS_UNWIND_RULE_END,
	FS_UNWIND_RULE_SIGNAL,
	FS_UNWIND_RULE_CHAIN,
	FS_UNWIND_FIXED_RULES,
};

/* Where the caller's frame pointer is. */
enum fs_unwind_fp {
	FS_UNWIND_FP_SAME,
	FS_UNWIND_FP_AT_CFA, /* at CFA + fp_off */
	FS_UNWIND_FP_AT_FP,  /* at frame pointer + fp_off */
	FS_UNWIND_FP_LOST,
};
#define FS_UNWIND_FP_MASK 7

/*
 * The upper five bits of `fp` say where one more register is.
 *
 * On x86-64 this register is rbx, which glibc uses as frame base in lazy binding: 0 unchanged, 1 to
 * 30 saved at CFA - 8 * n, 31 lost.
 *
 * On arm64 it is the return address: 0 in LR, 1 saved at fp_off + 8 (a frame record), 2 saved at
 * fp_off (the frame pointer is unchanged), n from 3 on saved at CFA - 8 * (n - 2).
 */
#define FS_UNWIND_SAVED(fp)	 ((fp) >> 3)
#define FS_UNWIND_SAVED_MAX	 30
#define FS_UNWIND_SAVED_LOST	 31
#define FS_UNWIND_RA_IN_LR	 0
#define FS_UNWIND_RA_WITH_FP	 1
#define FS_UNWIND_RA_AT_FP_OFF	 2
#define FS_UNWIND_RA_AT_CFA	 3
#define FS_UNWIND_RA_AT_CFA_LAST 31

/*
 * Rows are stored in chunks, which are allocated when they are needed. All rows of a page are in
 * one chunk.
 */
#define FS_UNWIND_CHUNK_ROWS (1u << 17)
#define FS_UNWIND_CHUNKS     128 /* maximum number of chunks: 64 MiB of rows */
#define FS_UNWIND_PAGES	     (1u << 16)
#define FS_UNWIND_AREAS	     (1u << 15)
#define FS_UNWIND_RULES	     (1u << 16)
#define FS_UNWIND_PROCS	     8192
#define FS_UNWIND_MAPPED     8 /* a power of two */
#define FS_UNWIND_FRAMES     WALK_FRAMES
#define FS_UNWIND_STEPS	     1024 /* maximum number of frames that a walk follows */

/* An executable mapping. */
struct fs_unwind_area {
	__u64 start;
	__u64 end;
	__u64 origin; /* address at which the first page of the file's text would be mapped */
	__u32 first;  /* index of the first page */
	__u32 pages;  /* number of pages, or one of the FS_UNWIND_ values below */
};
#define FS_UNWIND_FILE_UNREADABLE 0xfffffffc
#define FS_UNWIND_FILE_NO_ROOM	  0xfffffffd /* the memory for tables is used up */
#define FS_UNWIND_BY_CHAIN	  0xfffffffe
#define FS_UNWIND_NO_TABLE	  0xffffffff /* the unwind table of this file is not made yet */

/*
 * The executable mappings of a process, sorted by address. A forked child shares the list of its
 * parent until one of the two maps more code.
 */
struct fs_unwind_proc {
	__u32 first; /* index of the first mapping in the table of struct fs_unwind_area */
	__u32 areas; /* number of mappings; 0: user space has not read them yet */
	/* unique number of this list of mappings; it changes whenever the mappings change */
	__u32 generation;
	__u32 changed; /* nonzero: the mappings changed after user space began to read them */
	__u32 python;  /* index into the table of struct fs_python; 0: it has no CPython */
	__u32 unused;
	/* fs_unwind_epoch.valid_ns when user space began to read; otherwise the list is not used */
	__u64 valid_ns;
};

/*
 * What happened to the mappings of a process. Only the BPF program changes it, so that user space
 * cannot overwrite an event while it gives the process a list of mappings.
 */
struct fs_unwind_epoch {
	/* time of the last exec, or at which other code replaced a mapping of the list */
	__u64 valid_ns;
	__u32 mapped; /* number of calls that mapped code */
	__u32 copy_s; /* second in which the last stack was copied */
	__u32 copies; /* number of stacks that were copied in this second */
	__u32 unused;
	__u64 mapped_at[FS_UNWIND_MAPPED]; /* addresses of the last mapped code */
};

#endif
