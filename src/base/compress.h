/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: compresses and decompresses in memory. */
#ifndef FS_BASE_COMPRESS_H
#define FS_BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum packing {
	PACKING_NONE,
	PACKING_GZIP, /* gzip or zlib: the decoder distinguishes them */
	PACKING_XZ,   /* xz, or the older .lzma */
	PACKING_ZSTD,
	PACKING_BZIP2,
	PACKING_LZ4,
	PACKING_DEFLATE, /* raw deflate without a header: packing_of() never returns it */
};

/* Returns the format that the first bytes indicate. */
enum packing packing_of(const char *data, size_t n);

struct unpack_caps {
	size_t bytes;	 /* maximum bytes of output */
	uint64_t memory; /* maximum memory of the xz decoder, in bytes */
};

/*
 * Decompresses `in`; the caller frees *ret_data. Sets *ret_partial if the output is cut at
 * caps->bytes, or the input is damaged or cut off. Returns 0, -EINVAL if damage left no output,
 * -ENOMEM, or -ENOTSUP if the library of the format is missing.
 */
int unpack(enum packing packing, const char *in, size_t n, const struct unpack_caps *caps,
	   char **ret_data, size_t *ret_size, bool *ret_partial);

/* Arguments of deflateInit2(). */
struct gzip_way {
	int level, window_bits, memory;
};

struct gzip; /* state of the encoder, kept between calls */

/* Appends `from`, compressed, to `to`. Allocates *state if it is NULL. Returns 0 or -ENOMEM. */
int gzip_pack(struct gzip **state, const struct gzip_way *way, const struct buf *from,
	      struct buf *to);
void gzip_free(struct gzip *state);

#endif
