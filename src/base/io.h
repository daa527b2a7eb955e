/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: reads small files and writes texts completely, with as many calls as necessary. */
#ifndef FS_BASE_IO_H
#define FS_BASE_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens a directory in place of each of the files 0 to 2 that is closed, so that no file which is
 * opened later becomes standard output or standard error. Reads and writes fail with EBADF, as on a
 * closed file, and child processes have the file closed. Returns 0 or -errno.
 */
int io_hold_standard_files(void);

/*
 * Reads the small file `path`, relative to the directory `dir` as in openat(), up to size - 1
 * bytes. Returns the length of the file; on error returns -errno and makes `ret` empty.
 */
ssize_t io_read(int dir, const char *path, char *ret, size_t size);

/*
 * Reads an open file from its beginning. The other parameters and the result are as for io_read().
 */
ssize_t io_read_again(int fd, char *ret, size_t size);

/*
 * Reads the decimal number at the beginning of a small file. Returns false, and leaves *ret as it
 * is, if the file cannot be read or begins with no number. `dir` and `path` are as for io_read().
 */
bool io_read_number(int dir, const char *path, uint64_t *ret);

/*
 * Returns the next entry of a directory, which is valid until the next call. At the end, returns
 * NULL and sets *err to 0. On error, returns NULL and sets *err to -errno: entries are missing.
 */
struct dirent *io_next_entry(DIR *d, int *err);

/* Writes all bytes. Returns 0 or -errno. */
int io_write(int fd, const char *s, size_t len);

/*
 * Like io_write(), but with one call of write() for each group of whole lines that fits in PIPE_BUF
 * bytes. The kernel writes up to PIPE_BUF bytes to a pipe at once (pipe(7)), so that the output of
 * other writers of the pipe stands between two lines and not within one. This does not hold for a
 * line that is longer than PIPE_BUF.
 */
int io_write_lines(int fd, const char *s, size_t len);

#endif
