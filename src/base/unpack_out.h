/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: the output buffer of decoders, and the decoders that need no library. */
#ifndef FS_BASE_UNPACK_OUT_H
#define FS_BASE_UNPACK_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpack_out {
	char *data;
	size_t size, room, most;
	bool partial; /* the output is cut off, or the rest of the input is damaged */
};

/*
 * Makes room for more output. Returns false if the output has its maximum size, or memory is
 * exhausted.
 */
bool unpack_room(struct unpack_out *o);

/* Appends bytes. Returns false if not all of them fit. */
bool unpack_add(struct unpack_out *o, const char *data, size_t n);

/* Decode bzip2 and LZ4 frames (also the older LZ4 format). Return 0 or -ENOMEM. */
int bunzip2_all(const char *in, size_t n, struct unpack_out *o);
int unlz4_all(const char *in, size_t n, struct unpack_out *o);

#endif
