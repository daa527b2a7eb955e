/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: kinds of events that the flight recorder records, and lengths of their fields. */
#ifndef FS_RECORDS_PRECURSOR_KINDS_H
#define FS_RECORDS_PRECURSOR_KINDS_H

enum precursor_kind {
	PRE_FAULT,	/* bad access in kernel mode, recorded when the fault begins */
	PRE_FIXED,	/* kernel-mode fault that the exception table handled */
	PRE_PROBE,	/* deliberate kernel-mode fault: copy_from_kernel_nofault() and similar */
	PRE_PROTECTION, /* general protection fault or similar that the kernel did not handle */
	PRE_REPORT,	/* report of KFENCE, KASAN or WARN; arg 0: the detector */
	/*
	 * module loaded; arg: start and bytes of text, data, read-only data, read-only after init
	 */
	PRE_MODULE_LOAD,
	PRE_MODULE_FREE, /* module freed; arg: start and bytes, as for PRE_MODULE_LOAD */
	PRE_MCE,	 /* machine check; arg: bank, status, address */
	PRE_EDAC, /* memory error (EDAC); arg: corrected or not, count, address; text: DIMM */
	PRE_AER,  /* PCIe error; arg: status, severity; text: device */
	PRE_MEMORY_FAILURE, /* memory_failure() on a page; arg: page frame number */
	PRE_IOMMU,	    /* IOMMU fault; arg: address, flags; text: device */
	PRE_PANIC, /* panic; text: format and first %s argument; arg: arguments of the format */
	NR_PRECURSORS,
};

/* What is known about a kernel-mode fault when it begins. */
enum fault_verdict {
	VERDICT_SUSPECTED, /* the exception table may still handle the fault */
	VERDICT_FATAL,	   /* the kernel does not search the exception table: the fault is fatal */
};

#define PRE_CODE       24
#define PRE_TEXT       128
#define PRE_WORD_AT    96 /* offset in `text` of the first %s argument of a panic */
#define PRE_WORD_BYTES (PRE_TEXT - PRE_WORD_AT)
#define PRE_CODE_AT    8
#define PRE_STACK      20
#define PRE_REGS       18 /* x86: the 16 registers r15 to orig_ax of struct pt_regs, flags, sp */

#endif
