/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* blackbox: classifies lines of the kernel log. */
#ifndef FS_BLACKBOX_LOG_LINES_H
#define FS_BLACKBOX_LOG_LINES_H

#include "blackbox/ring_record.h"

#define BB_LEVEL_WARNING 4 /* printk level KERN_WARNING */

/* A line of /dev/kmsg. The text of a long line is cut. */
struct bb_line {
	int level;
	uint64_t us; /* microseconds since boot */
	char text[BB_LINE_MAX];
};

/*
 * Parses a record such as "6,1234,5678901,-;text" as read from /dev/kmsg, and ignores the lines "
 * KEY=value" that follow the record. Returns false if the record of /dev/kmsg is invalid.
 */
bool bb_line_parse(const char *record, size_t size, struct bb_line *ret);

/*
 * Returns the class of a line, by the first row of signs.def that matches. If no row matches,
 * returns BB_CONSOLE for warnings and worse, else BB_NONE.
 */
enum bb_class bb_line_class(int level, const char *text, enum bb_severity *ret_severity);

/* Returns whether this line ends an oops, which has many lines of any level. */
bool bb_line_ends_oops(const char *text);

#endif
