/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mcp: splits a stream of bytes into lines of a bounded length. */
#ifndef FS_MCP_LINES_OF_H
#define FS_MCP_LINES_OF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define LINE_BYTES (1u << 20) /* maximum length of a line */

/* Zeros are the begin of a stream. buf_free(&l->part) frees the memory. */
struct lines_of {
	struct buf part; /* an incomplete line */
	bool skips;	 /* the present line is too long */
};

/*
 * Calls take() for each line that is complete now: `line` without its end, not empty, or NULL for a
 * line that was too long.
 */
void lines_of_take(struct lines_of *l, const char *s, size_t len,
		   void (*take)(void *ctx, const char *line, size_t len), void *ctx);

#endif
