/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: packs and unpacks in memory, by zlib, liblzma and libzstd. */
#ifndef FS_BASE_COMPRESS_H
#define FS_BASE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum packing {
	PACKING_NONE,
	PACKING_GZIP, /* or zlib: the decoder tells them apart */
	PACKING_XZ,   /* or the older .lzma */
	PACKING_ZSTD,
	PACKING_DEFLATE, /* has no head: packing_of() never returns it */
};

/* By its first bytes. */
enum packing packing_of(const char *data, size_t n);

struct unpack_caps {
	size_t bytes;	 /* of what comes out */
	uint64_t memory; /* of the decoder of xz */
};

/*
 * *ret_data is owned by the caller. *ret_partial: there is more than `bytes`, or the rest is
 * damaged or cut off. Returns 0; -EINVAL where nothing came out, -ENOMEM, -ENOTSUP (zstd, in a
 * build without it).
 */
int unpack(enum packing packing, const char *in, size_t n, const struct unpack_caps *caps,
	   char **ret_data, size_t *ret_size, bool *ret_partial);

/* How gzip packs, as deflateInit2() has it. */
struct gzip_way {
	int level, window_bits, memory;
};

struct gzip; /* the state of the encoder, kept from one call to the next */

/* Appends `from`, gzipped, to `to`; makes *state where it is NULL. Returns 0 or -ENOMEM. */
int gzip_pack(struct gzip **state, const struct gzip_way *way, const struct buf *from,
	      struct buf *to);
void gzip_free(struct gzip *state);

#endif
