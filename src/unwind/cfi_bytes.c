// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/cfi_bytes.h"

#include <string.h>

__u64 cfi_unsigned(struct cfi_bytes *b, size_t bytes)
{
	__u64 n = 0;

	if ((size_t)(b->end - b->at) < bytes || bytes > sizeof(n)) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		memcpy(&n, b->at, bytes);
	else
		memcpy((__u8 *)&n + sizeof(n) - bytes, b->at, bytes);
	b->at += bytes;
	return n;
}

__s64 cfi_signed(struct cfi_bytes *b, size_t bytes)
{
	__u64 n = cfi_unsigned(b, bytes);
	unsigned int unused = bytes < sizeof(n) ? 64 - 8 * bytes : 0;

	return (__s64)(n << unused) >> unused;
}

/* Reads a LEB128 number. *ret_bits: number of bits that were read. */
static __u64 read_leb(struct cfi_bytes *b, unsigned int *ret_bits)
{
	unsigned int shift = 0;
	__u64 n = 0;

	while (b->at < b->end) {
		__u8 byte = *b->at++;

		if (shift < 64)
			n |= (__u64)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
		if (!(byte & 0x80)) {
			*ret_bits = shift;
			return n;
		}
	}
	b->bad = true;
	*ret_bits = 64;
	return 0;
}

__u64 cfi_uleb(struct cfi_bytes *b)
{
	unsigned int bits;

	return read_leb(b, &bits);
}

__s64 cfi_sleb(struct cfi_bytes *b)
{
	unsigned int bits;
	__u64 n = read_leb(b, &bits);

	if (bits < 64 && n >> (bits - 1))
		n |= ~0ULL << bits;
	return n;
}

struct cfi_bytes cfi_block(struct cfi_bytes *b, __u64 bytes)
{
	struct cfi_bytes block = {.at = b->at, .end = b->at};

	if (bytes > (__u64)(b->end - b->at)) {
		b->bad = true;
		b->at = b->end;
		return block;
	}
	b->at += bytes;
	block.end = b->at;
	return block;
}
