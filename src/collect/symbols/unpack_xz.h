/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: xz data, up to caps on what it takes and what it becomes. */
#ifndef FS_COLLECT_SYMBOLS_UNPACK_XZ_H
#define FS_COLLECT_SYMBOLS_UNPACK_XZ_H

#include "collect/files/byte_source.h"

#define UNPACK_IN_BYTES	    (4u << 20)
#define UNPACK_OUT_BYTES    (12u << 20)
#define UNPACK_MEMORY_BYTES (16u << 20) /* the decoder's own; xz takes 8 MiB by default */

/* All of it or nothing: returns 0, or a negative errno. *ret_mem: owned. */
int unpack_xz(const struct byte_source *s, __u64 offset, __u64 bytes, char **ret_mem,
	      size_t *ret_bytes);

#endif
