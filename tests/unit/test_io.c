// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests that files are read up to the buffer's size, and that texts are written completely. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "tap.h"

#define LONG_BYTES (1u << 18) /* bytes of a text that is longer than a pipe's buffer */

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
	test_write_fails();
	unlinkat(dir, "file", 0);
	close(dir);
	rmdir(dir_path);
	return tap_done();
}
