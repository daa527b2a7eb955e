/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: reads small files and writes texts completely, with as many calls as necessary. */
#ifndef FS_BASE_IO_H
#define FS_BASE_IO_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads the small file `path`, relative to the directory `dir` as in openat(), up to size - 1
 * bytes. Returns the length of the file; on error returns -errno and makes `ret` empty.
 */
ssize_t io_read(int dir, const char *path, char *ret, size_t size);

/*
 * Reads an open file from its beginning. The other parameters and the result are as for io_read().
 */
ssize_t io_read_again(int fd, char *ret, size_t size);

/* Writes all bytes. Returns 0 or -errno. */
int io_write(int fd, const char *s, size_t len);

#endif
