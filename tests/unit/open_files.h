/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the open files of a test, to see whether a function has left one open. */
#ifndef FS_TESTS_UNIT_OPEN_FILES_H
#define FS_TESTS_UNIT_OPEN_FILES_H

#include <fcntl.h>
#include <stddef.h>

#define OPEN_FILES_MAX 256 /* the tests have no file descriptors from this number on */

static inline size_t open_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < OPEN_FILES_MAX; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

#endif
