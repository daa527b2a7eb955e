// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests files that only their owner can change: which directories and files are refused, also for
 * root in a directory of another user.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private_file.h"
#include "tap.h"

#define OTHER 12345 /* a user that is not this one */

static char top[] = "/tmp/faultscope-private-XXXXXX";
static char error[512];

static const char *path_of(const char *name)
{
	static char path[4][256];
	static int nth;
	char *ret = path[nth++ % 4];

	snprintf(ret, 256, "%s/%s", top, name);
	return ret;
}

static void give(const char *path, uid_t owner)
{
	if (chown(path, owner, owner))
		abort();
}

static void link_to(const char *to, const char *path)
{
	if (symlink(to, path))
		abort();
}

/* Opens a directory below `top`. Returns 0 or -errno. */
static int try_open(const char *name, size_t creates)
{
	int fd;

	error[0] = 0;
	fd = private_directory(path_of(name), creates, error, sizeof(error));
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void refuses(const char *name, const char *why)
{
	ok(try_open(name, 2) && strstr(error, why), "%s: %s (%s)", name, why, error);
}

static void test_directories(void)
{
	struct stat st;

	is_u64(-try_open("a/b/c", 2), ENOENT, "directories are created only at the end of a path");
	ok(stat(path_of("a"), &st) && errno == ENOENT, "and nothing is left");
	is_u64(try_open("a/b", 2), 0, "two of them");
	ok(!stat(path_of("a/b"), &st) && (st.st_mode & 0777) == 0700, "only for the user");
	is_u64(try_open("a//b/", 0), 0, "more than one slash");
	chmod(path_of("a/b"), 0720);
	refuses("a/b", "other users can write to it");
	chmod(path_of("a/b"), 01777);
	refuses("a/b", "other users can write to it");
	chmod(path_of("a/b"), 0700);
	chmod(path_of("a"), 0707);
	refuses("a/b", "/a: other users can write to it");
	chmod(path_of("a"), 0700);
	link_to(path_of("a/b"), path_of("link"));
	refuses("link", "is a symbolic link");
	close(open(path_of("file"), O_CREAT | O_WRONLY, 0600));
	refuses("file", "Not a directory");
	refuses("file/below", "Not a directory");
	ok(private_directory("a/b", 0, error, sizeof(error)) == -EINVAL &&
		   strstr(error, "is no absolute path"),
	   "a relative path");
	unlink(path_of("link"));
	unlink(path_of("file"));
}

/* A directory on the way that belongs to another user, who could replace what is below it. */
static void test_other_users(void)
{
	if (geteuid()) {
		ok(true, "# SKIP needs root");
		return;
	}
	give(path_of("a"), OTHER);
	refuses("a/b", "/a: belongs to another user (uid 12345)");
	refuses("a", "belongs to another user");
	refuses("a/new", "belongs to another user");
	give(path_of("a"), 0);
	give(path_of("a/b"), OTHER);
	refuses("a/b", "/a/b: belongs to another user");
	give(path_of("a/b"), 0);
	link_to(path_of("a"), path_of("roots"));
	is_u64(try_open("roots/b", 0), 0, "a link in a directory that only root can change");
	unlink(path_of("roots"));
	give(top, OTHER);
	refuses("a/b", "belongs to another user");
	give(top, 0);
}

static int read_it(int dir, size_t most)
{
	struct buf text = {};
	int err = private_read(dir, "it", most, &text, error, sizeof(error));

	if (!err)
		is_str(text.s ? text.s : "", "text\n", "what was written");
	buf_free(&text);
	return err;
}

static void test_files(void)
{
	struct buf text = {.s = "text\n", .len = 5}, failed = {.failed = true};
	int dir = private_directory(path_of("a/b"), 0, error, sizeof(error)), fd;
	struct stat st;

	is_u64(-read_it(dir, 100), ENOENT, "no file");
	is_u64(private_write(dir, "it", &text, error, sizeof(error)), 0, "it is written");
	ok(!stat(path_of("a/b/it"), &st) && (st.st_mode & 07777) == 0600, "with mode 0600");
	is_u64(read_it(dir, 5), 0, "as large as it may be");
	ok(read_it(dir, 4) == -EFBIG && strstr(error, "it: is larger than 4 bytes"), "larger: %s",
	   error);
	is_u64(private_write(dir, "it", &text, error, sizeof(error)), 0, "it is replaced");
	is_u64(read_it(dir, 100), 0, "by the same");
	ok(private_write(dir, "it", &failed, error, sizeof(error)) == -ENOMEM && !read_it(dir, 100),
	   "an incomplete text replaces nothing");
	fd = open(path_of("a/b/it"), O_WRONLY);
	ok(fd >= 0 && !ftruncate(fd, 1L << 30), "a file of 1 GiB");
	close(fd);
	is_u64(-read_it(dir, 65536), EFBIG, "is not read to its end");
	if (!geteuid()) {
		give(path_of("a/b/it"), OTHER);
		ok(read_it(dir, 100) == -EPERM && strstr(error, "belongs to another user"),
		   "another owner: %s", error);
	}
	unlink(path_of("a/b/it"));
	link_to("/etc/passwd", path_of("a/b/it"));
	ok(read_it(dir, 1 << 20) == -ELOOP && strstr(error, "symbolic link"), "a link: %s", error);
	ok(private_write(dir, "it", &text, error, sizeof(error)) &&
		   strstr(error, "no regular file"),
	   "is not replaced");
	unlink(path_of("a/b/it"));
	mkfifo(path_of("a/b/it"), 0600);
	ok(read_it(dir, 100) == -EINVAL && strstr(error, "no regular file"), "a FIFO: %s", error);
	ok(private_write(dir, "it", &text, error, sizeof(error)) &&
		   strstr(error, "no regular file"),
	   "is not written to");
	unlink(path_of("a/b/it"));
	close(dir);
	ok(!rmdir(path_of("a/b")), "no temporary file is left");
}

/* A name has 255 bytes at most. */
static void test_long_names(void)
{
	char path[sizeof(top) + 300];
	int fd;

	snprintf(path, sizeof(path), "%s/", top);
	memset(path + sizeof(top), 'n', 256);
	path[sizeof(top) + 256] = 0;
	ok(private_directory(path, 1, error, sizeof(error)) == -ENAMETOOLONG &&
		   strstr(error, "File name too long"),
	   "a long name: %.60s", error);
	path[sizeof(top) + 255] = 0;
	fd = private_directory(path, 1, error, sizeof(error));
	ok(fd >= 0, "the longest name");
	close(fd);
	rmdir(path);
}

/* A program may run without standard input: then the file has the descriptor 0. */
static void test_descriptor_0(void)
{
	int below = private_directory(top, 0, error, sizeof(error));
	int dir = fcntl(below, F_DUPFD_CLOEXEC, 10);
	struct buf text = {.s = "text\n", .len = 5};

	close(below);
	is_u64(private_write(dir, "it", &text, error, sizeof(error)), 0, "it is written");
	is_u64(read_it(dir, 5), 0, "and read as 0");
	ok(fcntl(0, F_GETFD) < 0, "which is closed");
	unlinkat(dir, "it", 0);
	close(dir);
}

int main(void)
{
	if (!mkdtemp(top))
		abort();
	test_directories();
	test_other_users();
	test_files();
	test_long_names();
	test_descriptor_0();
	rmdir(path_of("a"));
	ok(!rmdir(top), "nothing is left");
	return tap_done();
}
