/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: reads the entries of an .eh_frame section. A common information entry (CIE) has what
 * several functions share. A frame description entry (FDE) has the address range of one function
 * and its instructions.
 */
#ifndef FS_UNWIND_CFI_SECTION_H
#define FS_UNWIND_CFI_SECTION_H

#include "unwind/cfi_bytes.h"

struct cfi_section {
	const __u8 *bytes; /* borrowed */
	size_t size;
	__u64 address; /* address of the first byte of the section */
	size_t pointer_bytes;
};

struct cfi_cie {
	__u64 code_align;
	__s64 data_align;
	__u64 ra_column;
	bool has_data; /* an FDE of this CIE has augmentation data with a length */
	bool signal;   /* this CIE describes signal frames */
	__u8 encoding; /* encoding of pointers in FDEs */
	struct cfi_bytes program;
};

struct cfi_entry {
	size_t next; /* offset of the next entry */
	size_t cie;  /* offset of the entry's CIE; if is_cie, of the entry itself */
	bool is_cie;
	struct cfi_bytes body; /* the entry's bytes after the CIE ID */
};

struct cfi_fde {
	__u64 start;
	__u64 bytes;
	struct cfi_bytes program;
};

/*
 * Reads the entry at `offset`. Returns 1, 0 at the end of the section, or -EBADMSG if the entry's
 * length is invalid, so that no later entry can be found.
 */
int cfi_entry_read(const struct cfi_section *s, size_t offset, struct cfi_entry *ret);

/* Reads a CIE. Returns 0, -EBADMSG, or -EOPNOTSUPP for an unknown version or augmentation. */
int cfi_cie_read(const struct cfi_section *s, const struct cfi_entry *e, struct cfi_cie *ret);
int cfi_fde_read(const struct cfi_section *s, const struct cfi_entry *e, const struct cfi_cie *cie,
		 struct cfi_fde *ret);

/* Reads the address of .eh_frame from the head of .eh_frame_hdr. Returns 0 or -EBADMSG. */
int cfi_index_read(const struct cfi_section *index, __u64 *ret_address);

#endif
