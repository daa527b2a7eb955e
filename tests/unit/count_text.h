/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts places in a text. */
#ifndef FS_TESTS_UNIT_COUNT_TEXT_H
#define FS_TESTS_UNIT_COUNT_TEXT_H

#include <stddef.h>
#include <string.h>

/* Returns how often a text contains another, without overlaps. */
static inline size_t count(const char *in, const char *what)
{
	size_t n = 0;

	for (; (in = strstr(in, what)); in += strlen(what))
		n++;
	return n;
}

#endif
