/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds line numbers in the line tables of CPython 3.8 to 3.15. The table may be hostile.
 */
#ifndef FS_COLLECT_PYTHON_PYTHON_LINES_H
#define FS_COLLECT_PYTHON_PYTHON_LINES_H

#include <stddef.h>

#include <linux/types.h>

struct python_lines {
	unsigned int minor; /* N of CPython version 3.N */
	const __u8 *table;  /* borrowed */
	size_t bytes;
	__u32 first_line; /* first line of the function */
};

/*
 * Returns the line of the instruction at this byte offset; 0: the instruction has no line, or is
 * not in the table.
 */
__u32 python_line(const struct python_lines *l, __u64 offset);

#endif
