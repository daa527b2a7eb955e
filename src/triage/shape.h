/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * triage: learns prefixes of loggers that prefix.c does not know, from lines that only the kernel
 * prints, and removes them from all lines.
 */
#ifndef FS_TRIAGE_SHAPE_H
#define FS_TRIAGE_SHAPE_H

#include "triage/str.h"

#define SHAPE_MOST 120 /* maximum bytes of a prefix */
#define SHAPES_MAX 4

/* Prefixes that were found. They point into the input. */
struct shapes {
	struct str prefix[SHAPES_MAX];
	size_t n;
};

/* Learns the prefixes of a log. */
void shapes_learn(struct shapes *ret, struct str data);

/*
 * Returns the length of a learned prefix at the start of `s`; 0: none. Two texts have the same
 * shape if they differ only in words, numbers and the number of blanks.
 */
size_t shape_length(const struct shapes *shapes, struct str s);

#endif
