// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that files are read up to the buffer's size, and that texts are written completely. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tap.h"

#define LONG_BYTES  (1u << 18) /* bytes of a text that is longer than a pipe's buffer */
#define SHORT_LINES 2000       /* lines of the second writer of a pipe */

static char dir_path[] = "/tmp/fs_io.XXXXXX";
static int dir;

static void make_file(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || io_write(fd, text, strlen(text)) || close(fd))
		abort();
}

static void test_read(void)
{
	char text[8];

	make_file("file", "1234567");
	is_u64(io_read(dir, "file", text, sizeof(text)), 7, "a file that just fits");
	is_str(text, "1234567", "is read whole");
	make_file("file", "123456789");
	is_u64(io_read(dir, "file", text, sizeof(text)), 7, "one that is too long");
	is_str(text, "1234567", "is cut off");
	make_file("file", "");
	is_u64(io_read(dir, "file", text, sizeof(text)), 0, "an empty one");
	is_str(text, "", "is an empty text");
}

static void test_read_again(void)
{
	char text[8];
	int fd;

	make_file("file", "first");
	fd = openat(dir, "file", O_RDONLY | O_CLOEXEC);
	is_u64(io_read_again(fd, text, sizeof(text)), 5, "one that is held open");
	make_file("file", "123456789");
	is_u64(io_read_again(fd, text, sizeof(text)), 7, "is read from its beginning again");
	is_str(text, "1234567", "and cut off alike");
	close(fd);
	ok(io_read_again(-1, text, sizeof(text)) == -EBADF, "one that is not open is said");
	is_str(text, "", "and there is no text");
}

static void test_fails(void)
{
	char text[8] = "before";

	ok(io_read(dir, "none", text, sizeof(text)) == -ENOENT, "none is said");
	is_str(text, "", "and there is no text");
	strcpy(text, "before");
	ok(io_read(AT_FDCWD, dir_path, text, sizeof(text)) == -EISDIR, "as is what is no file");
	is_str(text, "", "and there is no text");
}

/* Tests a text that is longer than a pipe's buffer, so that several reads and writes are needed. */
static void test_pieces(void)
{
	static char sent[LONG_BYTES], got[LONG_BYTES + 1];
	char path[32];
	int fds[2];
	pid_t child;

	memset(sent, 'x', sizeof(sent));
	sent[LONG_BYTES - 1] = '.';
	if (pipe(fds))
		abort();
	child = fork();
	if (!child) {
		close(fds[0]);
		_exit(io_write(fds[1], sent, sizeof(sent)) != 0);
	}
	close(fds[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[0]);
	is_u64(io_read(AT_FDCWD, path, got, sizeof(got)), LONG_BYTES, "what comes in pieces");
	ok(!memcmp(got, sent, sizeof(sent)), "is put together");
	close(fds[0]);
	waitpid(child, NULL, 0);
}

/* Makes a text of lines of many lengths from 1 to PIPE_BUF. Returns the length of the text. */
static size_t text_of_lines(char *text, size_t size)
{
	size_t len = 0, line = PIPE_BUF;

	while (len + line <= size) {
		memset(text + len, 'a', line - 1);
		text[len + line - 1] = '\n';
		len += line;
		line = line == 1 ? PIPE_BUF : 1 + line * 7 % PIPE_BUF;
	}
	return len;
}

/*
 * Reads lines of a pipe until its writers end. Appends the lines that begin with "a" to `ret`.
 * Returns the number of lines that contain letters of both writers.
 */
static unsigned read_lines(int fd, char *ret, unsigned *others)
{
	FILE *f = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	unsigned torn = 0;
	ssize_t len;

	*ret = 0;
	*others = 0;
	while ((len = getline(&line, &room, f)) > 0) {
		bool first = line[0] != 'b';

		torn += strspn(line, first ? "a" : "b") != (size_t)len - 1;
		*others += !first;
		if (first)
			ret = stpcpy(ret, line);
	}
	free(line);
	fclose(f);
	return torn;
}

/*
 * Another process writes to the same pipe while the pipe is full. Its lines must stand between the
 * lines of io_write_lines().
 */
static void test_lines_of_two_writers(void)
{
	static char sent[LONG_BYTES], got[2 * LONG_BYTES];
	size_t len = text_of_lines(sent, LONG_BYTES);
	unsigned others, torn;
	pid_t writer, other;
	int fds[2];

	if (pipe(fds) || fcntl(fds[1], F_SETPIPE_SZ, PIPE_BUF) < 0)
		abort();
	other = fork();
	if (!other) {
		for (int i = 0; i < SHORT_LINES; i++)
			io_write(fds[1], "bbb\n", 4);
		_exit(0);
	}
	writer = fork();
	if (!writer) {
		close(fds[0]);
		_exit(io_write_lines(fds[1], sent, len) != 0);
	}
	close(fds[1]);
	torn = read_lines(fds[0], got, &others);
	is_u64(torn, 0, "no line contains parts of two lines");
	is_u64(others, SHORT_LINES, "all lines of the other process are there");
	ok(strlen(got) == len && !memcmp(got, sent, len), "all lines of the text, in their order");
	waitpid(writer, NULL, 0);
	waitpid(other, NULL, 0);
}

/* Writes `len` bytes as lines to a pipe, and reads them again. */
static void check_lines(const char *sent, size_t len, const char *what)
{
	static char got[LONG_BYTES];
	int fds[2];

	if (pipe(fds))
		abort();
	ok(!io_write_lines(fds[1], sent, len), "%s are written", what);
	close(fds[1]);
	ok(read(fds[0], got, sizeof(got)) == (ssize_t)len && !memcmp(got, sent, len),
	   "%s are read as they were", what);
	close(fds[0]);
}

static void test_lines(void)
{
	static char sent[4 * PIPE_BUF];

	check_lines("one\ntwo\n", 8, "short lines");
	check_lines("one\ntwo", 7, "lines without a last end");
	check_lines("", 0, "no lines");
	memset(sent, 'x', sizeof(sent));
	check_lines(sent, sizeof(sent), "bytes without an end of a line");
	sent[2 * PIPE_BUF] = '\n';
	check_lines(sent, sizeof(sent), "lines that are longer than PIPE_BUF");
	sent[10] = '\n';
	check_lines(sent, sizeof(sent), "a short line and long ones");
	ok(io_write_lines(-1, sent, sizeof(sent)) == -EBADF, "an error is returned");
}

static void test_write_fails(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC), fds[2];

	ok(io_write(fd, "text", 4) == -ENOSPC, "no room is said");
	close(fd);
	if (pipe(fds))
		abort();
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	ok(io_write(fds[1], "text", 4) == -EPIPE, "as is a reader who went away");
	close(fds[1]);
}

int main(void)
{
	if (!mkdtemp(dir_path))
		abort();
	dir = open(dir_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_read();
	test_read_again();
	test_fails();
	test_pieces();
	test_lines_of_two_writers();
	test_lines();
	test_write_fails();
	unlinkat(dir, "file", 0);
	close(dir);
	rmdir(dir_path);
	return tap_done();
}
