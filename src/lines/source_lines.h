/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lines: finds the source lines and the inlined functions of an address in an ELF file. */
#ifndef FS_LINES_SOURCE_LINES_H
#define FS_LINES_SOURCE_LINES_H

#include "lines/libdw.h"

#define SOURCE_FRAMES_MAX 16
#define SOURCE_TEXT_BYTES 256

struct source_frame {
	char function[SOURCE_TEXT_BYTES]; /* empty: not known */
	char file[SOURCE_TEXT_BYTES];
	uint32_t line; /* 0: not known */
};

/* The debug information of a file. */
struct source_lines;

/*
 * Opens the debug information of an ELF file or of its debug file. Does not take over `fd`. The
 * file is read, not mapped. Returns 0, -ENOENT (no debug information), -E2BIG or -ENOMEM.
 */
int source_lines_open(const struct libdw *dw, int fd, struct source_lines **ret);

/*
 * Finds the source lines of an address before relocation. The first frame is the innermost inlined
 * function, the last one is the function that is not inlined. Returns the number of frames; 0: not
 * known.
 */
size_t source_lines_find(struct source_lines *l, uint64_t address,
			 struct source_frame ret[SOURCE_FRAMES_MAX]);

void source_lines_close(struct source_lines *l);

#endif
