/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: small files read and texts written whole, however many calls that takes. */
#ifndef FS_BASE_IO_H
#define FS_BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The text of the small file `path` below the directory `dir` (AT_FDCWD: as open() finds it), of
 * which all behind size - 1 bytes is cut off. Returns its length; -errno, and `ret` is empty.
 */
ssize_t io_read(int dir, const char *path, char *ret, size_t size);

/* The same of a file that is held open: from its beginning, each time. */
ssize_t io_read_again(int fd, char *ret, size_t size);

/* All of it. 0, -errno. */
int io_write(int fd, const char *s, size_t len);

#endif
