/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: command lines of processes, from /proc/PID/cmdline. */
#ifndef FS_COLLECT_NAMES_COMMAND_LINE_H
#define FS_COLLECT_NAMES_COMMAND_LINE_H

#include <stddef.h>

/*
 * Reads the command line of a process, below the directory `proc` of the process. At most `size`
 * bytes are read, so the cost does not depend on the process. Arguments are separated by blanks,
 * and a longer command line ends in "...". Sets an empty string if the process has no command line,
 * as kernel threads and zombies have none, or if it cannot be read.
 *
 * The kernel copies these bytes from the memory of the process (get_mm_cmdline() in
 * fs/proc/base.c). The process can change them, so outputs must escape them.
 */
void command_line_read(int proc, char *ret, size_t size);

/* Makes a string of the `len` bytes of /proc/PID/cmdline in `text`, which has room for `size`. */
void command_line_join(char *text, size_t len, size_t size);

#endif
