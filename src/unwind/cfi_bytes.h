/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: reads numbers of call frame information one after the other. The bytes may be hostile. A
 * read past the end returns 0 and sets `bad`, so the caller can check once after several reads.
 */
#ifndef FS_UNWIND_CFI_BYTES_H
#define FS_UNWIND_CFI_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct cfi_bytes {
	const __u8 *at; /* borrowed */
	const __u8 *end;
	bool bad;
};

/* Reads a number of 1, 2, 4 or 8 bytes in the host's byte order. */
__u64 cfi_unsigned(struct cfi_bytes *b, size_t bytes);
__s64 cfi_signed(struct cfi_bytes *b, size_t bytes);

/* Reads a LEB128 number, unsigned or signed. Bits above the 64th are dropped. */
__u64 cfi_uleb(struct cfi_bytes *b);
__s64 cfi_sleb(struct cfi_bytes *b);

/* Splits off the next `bytes` bytes. Returns an empty block if fewer bytes are left. */
struct cfi_bytes cfi_block(struct cfi_bytes *b, __u64 bytes);

#endif
