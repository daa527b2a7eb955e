/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: selects the frames that identify a stack best. */
#ifndef FS_MODEL_FRAMES_H
#define FS_MODEL_FRAMES_H

#include "model/model.h"

/* A frame within a text; not NUL-terminated. */
struct frame_text {
	const char *s;
	size_t len;
};

/*
 * Selects the innermost frames, up to `room`. Of the frames in Go's library that a system call
 * passes through, selects only the innermost. Returns the number of frames. Sets *ret_more if more
 * frames exist.
 */
size_t frames_telling(const struct frames *f, struct frame_text *ret, size_t room, bool *ret_more);

/*
 * Returns " (stack may be short: REASON)", written to a buffer of at least FRAMES_END_BYTES; an
 * empty string for a whole stack.
 */
#define FRAMES_END_BYTES 128
const char *frames_end_text(const struct frames *f, char *ret, size_t size);

/*
 * Returns the name of the reason why a walk with unwind tables ended, such as "gap"; NULL: the
 * stack was not walked with tables.
 */
const char *stack_end_name(uint32_t end);

#endif
