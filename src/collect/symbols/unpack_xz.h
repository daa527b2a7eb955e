/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: decompresses xz data, within maximum sizes of input, output and memory. */
#ifndef FS_COLLECT_SYMBOLS_UNPACK_XZ_H
#define FS_COLLECT_SYMBOLS_UNPACK_XZ_H

#include "collect/files/byte_source.h"

#define UNPACK_IN_BYTES	    (4u << 20)
#define UNPACK_OUT_BYTES    (12u << 20)
#define UNPACK_MEMORY_BYTES (16u << 20) /* memory of the decoder; xz needs 8 MiB by default */

/* Decompresses all data, or fails. Returns 0 or -errno. The caller frees *ret_mem. */
int unpack_xz(const struct byte_source *s, __u64 offset, __u64 bytes, char **ret_mem,
	      size_t *ret_bytes);

#endif
