/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decompresses logs in the formats gzip, xz and zstd, and zlib as used by pstore. */
#ifndef FS_CRASH_DECOMPRESS_H
#define FS_CRASH_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Replaces *data, which the caller owns, by its decompressed contents of at most `most` bytes. Data
 * that is not compressed stays unchanged. Sets *ret_partial if the rest is too long, damaged or
 * missing. Returns 0, or -errno with the reason in *ret_why.
 */
int decompress(char **data, size_t *size, size_t most, bool *ret_partial, const char **ret_why);

#endif
