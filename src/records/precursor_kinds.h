/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: kinds of events that the flight recorder records, and lengths of their fields. */
#ifndef FS_RECORDS_PRECURSOR_KINDS_H
#define FS_RECORDS_PRECURSOR_KINDS_H

enum precursor_kind {
	PRE_FAULT,	/* a bad access in kernel mode, at its entry */
	PRE_FIXED,	/* a fault that the exception table handled */
	PRE_PROBE,	/* a deliberate one: copy_from_kernel_nofault() and similar */
	PRE_PROTECTION, /* a general protection fault or similar, which is not handled */
	PRE_REPORT,	/* KFENCE, KASAN, WARN: arg 0 the detector */
	/* arg: start and size in bytes of text, data, read-only data, read-only after init */
	PRE_MODULE_LOAD,
	PRE_MODULE_FREE,    /* args as PRE_MODULE_LOAD */
	PRE_MCE,	    /* arg: bank, status, address */
	PRE_EDAC,	    /* arg: corrected or not, count, address; text: the DIMM label */
	PRE_AER,	    /* arg: status, severity; text: the device */
	PRE_MEMORY_FAILURE, /* arg: page frame */
	PRE_IOMMU,	    /* arg: address, flags; text: the device */
	/* text: its format, then its first %s; arg: the arguments of the format */
	PRE_PANIC,
	NR_PRECURSORS,
};

/* How the kernel side judged a fault at its entry. */
enum fault_verdict {
	VERDICT_SUSPECTED, /* the exception table may still handle it */
	VERDICT_FATAL,	   /* the kernel does not use the exception table: the fault is fatal */
};

#define PRE_CODE       24
#define PRE_TEXT       128
#define PRE_WORD_AT    96 /* offset of the first %s in the text of a panic */
#define PRE_WORD_BYTES (PRE_TEXT - PRE_WORD_AT)
#define PRE_CODE_AT    8
#define PRE_STACK      20
#define PRE_REGS       18 /* r15 … ss in the order of struct pt_regs, up to sp */

#endif
