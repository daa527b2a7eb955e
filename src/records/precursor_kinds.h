/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: what the flight recorder notes, and the lengths of its notes. */
#ifndef FS_RECORDS_PRECURSOR_KINDS_H
#define FS_RECORDS_PRECURSOR_KINDS_H

enum precursor_kind {
	PRE_FAULT,	    /* a bad access in kernel mode, at its entry */
	PRE_FIXED,	    /* one that the exception table made good */
	PRE_PROBE,	    /* one that asked for it: copy_from_kernel_nofault() and kin */
	PRE_PROTECTION,	    /* a general protection fault or the like, that nothing makes good */
	PRE_REPORT,	    /* KFENCE, KASAN, WARN: arg 0 the detector */
	PRE_MODULE_LOAD,    /* arg: start and bytes of text, data, read-only data, read-only later
			     */
	PRE_MODULE_FREE,    /* the same */
	PRE_MCE,	    /* arg: bank, status, address */
	PRE_EDAC,	    /* arg: corrected or not, count, address; text: the DIMM */
	PRE_AER,	    /* arg: status, severity; text: the device */
	PRE_MEMORY_FAILURE, /* arg: page frame */
	PRE_IOMMU,	    /* arg: address, flags; text: the device */
	PRE_PANIC,	    /* text: its format, then its first %s; arg: what it formats */
	NR_PRECURSORS,
};

/* How a fault was judged at its entry. */
enum fault_verdict {
	VERDICT_SUSPECTED, /* the exception table may yet make it good */
	VERDICT_FATAL,	   /* the kernel does not look there: it dies of this one */
};

#define PRE_CODE       24
#define PRE_TEXT       128
#define PRE_WORD_AT    96 /* in the text of a panic */
#define PRE_WORD_BYTES (PRE_TEXT - PRE_WORD_AT)
#define PRE_CODE_AT    8
#define PRE_STACK      20
#define PRE_REGS       18 /* r15 … ss as struct pt_regs has them, up to sp */

#endif
