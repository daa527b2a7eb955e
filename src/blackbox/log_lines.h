/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* blackbox: classifies lines of the kernel log. */
#ifndef FS_BLACKBOX_LOG_LINES_H
#define FS_BLACKBOX_LOG_LINES_H

#include "blackbox/ring_record.h"

#define BB_LEVEL_WARNING 4 /* level of printk */

/* A line of /dev/kmsg: level, time, and text in `line`, cut to size. */
struct bb_line {
	int level;
	uint64_t us; /* since boot */
	char text[BB_LINE_MAX];
};

/*
 * Parses "6,1234,5678901,-;text" as read from /dev/kmsg, with its " KEY=value" lines. Returns false
 * if it is invalid.
 */
bool bb_line_parse(const char *record, size_t size, struct bb_line *ret);

/* Returns the class of a line; BB_NONE for other lines, and for levels below warning. */
enum bb_class bb_line_class(int level, const char *text, enum bb_severity *ret_severity);

/* An oops has many lines of any level. Returns whether this line ends it. */
bool bb_line_ends_oops(const char *text);

#endif
