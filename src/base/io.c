// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int io_hold_standard_files(void)
{
	/* open() returns the lowest free number; O_PATH: no read(2) and no write(2) */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) < 0)
			return -errno;
	return 0;
}

/* Reads in a loop, because files of /proc return a line or a page at a time. */
static ssize_t read_whole(int fd, char *ret, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n) { /* read() of 0 bytes, when no room is left, returns 0 and ends the loop */
		n = read(fd, ret + len, size - len);
		if (n < 0)
			return -errno;
		len += n;
	}
	return len;
}

ssize_t io_read(int dir, const char *path, char *ret, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -errno : read_whole(fd, ret, size - 1);

	if (fd >= 0)
		close(fd);
	ret[len > 0 ? len : 0] = 0;
	return len;
}

bool io_read_number(int dir, const char *path, uint64_t *ret)
{
	char text[32], *end;
	uint64_t n;

	if (io_read(dir, path, text, sizeof(text)) <= 0)
		return false;
	n = strtoull(text, &end, 10);
	if (end == text)
		return false;
	*ret = n;
	return true;
}

ssize_t io_read_again(int fd, char *ret, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0) { /* pread() of 0 bytes, when no room is left, returns 0 and ends the loop */
		n = pread(fd, ret + len, size - 1 - len, len);
		len += n > 0 ? n : 0;
	}
	if (n < 0) {
		ret[0] = 0;
		return -errno;
	}
	ret[len] = 0;
	return len;
}

struct dirent *io_next_entry(DIR *d, int *err)
{
	struct dirent *de;

	errno = 0;
	de = readdir(d);
	*err = de ? 0 : -errno;
	return de;
}

int io_write(int fd, const char *s, size_t len)
{
	size_t at = 0;

	while (at < len) {
		ssize_t n = write(fd, s + at, len - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
	}
	return 0;
}

/* Returns the length of the first lines of a text that one call of write() should contain. */
static size_t lines_for_a_pipe(const char *s, size_t len)
{
	const char *end;

	if (len <= PIPE_BUF)
		return len;
	end = memrchr(s, '\n', PIPE_BUF);
	if (!end) /* the first line is longer than PIPE_BUF */
		end = memchr(s + PIPE_BUF, '\n', len - PIPE_BUF);
	return end ? (size_t)(end + 1 - s) : len;
}

int io_write_lines(int fd, const char *s, size_t len)
{
	int err = 0;

	while (len && !err) {
		size_t n = lines_for_a_pipe(s, len);

		err = io_write(fd, s, n);
		s += n;
		len -= n;
	}
	return err;
}
