/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compressed logs: gzip, xz, zstd, and zlib as pstore keeps it. */
#ifndef FS_CRASH_DECOMPRESS_H
#define FS_CRASH_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Replaces *data, which is the caller's, by what it unpacks to, at most `most` bytes; what is not
 * compressed stays. *ret_partial: there is more than that, or the rest is damaged or cut off.
 * Returns 0, -ENOMEM or -EINVAL with the reason.
 */
int decompress(char **data, size_t *size, size_t most, bool *ret_partial, const char **ret_why);

#endif
