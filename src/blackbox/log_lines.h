/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* blackbox: what a line of the kernel's log is a sign of. */
#ifndef FS_BLACKBOX_LOG_LINES_H
#define FS_BLACKBOX_LOG_LINES_H

#include "blackbox/ring_record.h"

#define BB_LEVEL_WARNING 4 /* printk's */

/* A line of /dev/kmsg: its level, its time, and its text in `line`, cut to size. */
struct bb_line {
	int level;
	uint64_t us; /* since the boot */
	char text[BB_LINE_MAX];
};

/* "6,1234,5678901,-;text" as a read gives it, with its " KEY=value" lines. False: it is none. */
bool bb_line_parse(const char *record, size_t size, struct bb_line *ret);

/* What it is a sign of; BB_NONE where it is of no sort, and below warning. */
enum bb_class bb_line_class(int level, const char *text, enum bb_severity *ret_severity);

/* An oops is many lines, of any level: which of them end it. */
bool bb_line_ends_oops(const char *text);

#endif
