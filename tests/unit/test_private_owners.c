// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which owners and modes of directories and files make a private file refused, for root and
 * for another user, and what is said if a call of the kernel fails. Owners and failures are those
 * of this test, so that it needs no rights.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/private_file.h"
#include "failing_memory.h"
#include "open_files.h"
#include "tap.h"

#define USER  1000
#define OTHER 12345
#define NAMES 4

static char top[] = "/tmp/faultscope-owners-XXXXXX";
static char error[512];

static struct {
	uid_t user;
	struct {
		const char *name; /* below `top` */
		uid_t owner;
		mode_t mode;
	} file[NAMES];
	/* errno of the first call of a function; 0: it succeeds */
	int open_error, stat_error, make_error, read_error;
	int sync_error, sync_at; /* the number of the fsync() that fails, from 1 on */
} kernel;

static const char *path_of(const char *name)
{
	static char path[4][256];
	static int nth;
	char *ret = path[nth++ % 4];

	snprintf(ret, 256, "%s/%s", top, name);
	return ret;
}

static int fails(int *number)
{
	errno = *number;
	*number = 0;
	return -1;
}

uid_t geteuid(void)
{
	return kernel.user;
}

/* Everything outside of this test belongs to root. */
int fstat(int fd, struct stat *ret)
{
	struct stat one;
	char path[256];

	if (kernel.stat_error)
		return fails(&kernel.stat_error);
	if (fstatat(fd, "", ret, AT_EMPTY_PATH))
		return -1;
	ret->st_uid = 0;
	for (int i = 0; i < NAMES; i++) {
		if (!kernel.file[i].name)
			continue;
		snprintf(path, sizeof(path), "%s/%s", top, kernel.file[i].name);
		if (lstat(path, &one) || one.st_ino != ret->st_ino || one.st_dev != ret->st_dev)
			continue;
		ret->st_uid = kernel.file[i].owner;
		ret->st_mode = (ret->st_mode & S_IFMT) | kernel.file[i].mode;
	}
	return 0;
}

int open(const char *path, int flags, ...)
{
	if (kernel.open_error)
		return fails(&kernel.open_error);
	return openat(AT_FDCWD, path, flags, 0600);
}

int mkdirat(int dir, const char *name, mode_t mode)
{
	if (kernel.make_error)
		return fails(&kernel.make_error);
	return syscall(SYS_mkdirat, dir, name, mode);
}

ssize_t read(int fd, void *ret, size_t size)
{
	if (kernel.read_error)
		return fails(&kernel.read_error);
	return syscall(SYS_read, fd, ret, size);
}

int fsync(int fd)
{
	(void)fd;
	return kernel.sync_error && !--kernel.sync_at ? fails(&kernel.sync_error) : 0;
}

static void begin(uid_t user)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.user = user;
	kernel.file[0].name = "";
	kernel.file[0].mode = 0755;
}

/* The directory a belongs to `owner`, the directory a/b to the user. */
static void own(uid_t owner, mode_t mode)
{
	kernel.file[1].name = "a";
	kernel.file[1].owner = owner;
	kernel.file[1].mode = mode;
	kernel.file[2].name = "a/b";
	kernel.file[2].owner = kernel.user;
	kernel.file[2].mode = 0700;
}

/* Opens a directory below `top`. Returns 0 or -errno. */
static int opens(const char *name, size_t creates)
{
	size_t before = open_fds();
	int fd;

	error[0] = 0;
	fd = private_directory(path_of(name), creates, error, sizeof(error));
	if (fd >= 0)
		close(fd);
	if (open_fds() != before)
		ok(false, "a file stays open");
	return fd < 0 ? fd : 0;
}

static void refuses(const char *name, size_t creates, int err, const char *why)
{
	int got = opens(name, creates);

	ok(got == err && strstr(error, why), "%s: %d %s", name, got, error);
}

/* Checks whether the directory a may be on the way, and whether it may be the last one. */
static void test_directories(void)
{
	static const struct {
		uid_t user, owner;
		mode_t mode;
		const char *on_the_way, *last; /* why it is refused; NULL: it is not */
	} rows[] = {
#define BELONGS "a: belongs to another user (uid "
#define WRITES	"a: other users can write to it (chmod go-w)"
		{USER, USER, 0700, NULL, NULL},
		{USER, USER, 0755, NULL, NULL},
		{USER, USER, 0720, WRITES, WRITES},
		{USER, USER, 0702, WRITES, WRITES},
		{USER, USER, 01777, NULL, WRITES},
		{USER, 0, 0755, NULL, BELONGS "0)"},
		{USER, 0, 01777, NULL, BELONGS "0)"},
		{USER, 0, 0777, WRITES, BELONGS "0)"},
		{USER, OTHER, 0755, BELONGS "12345)", BELONGS "12345)"},
		{USER, OTHER, 01777, BELONGS "12345)", BELONGS "12345)"},
		{0, 0, 0700, NULL, NULL},
		{0, 0, 01777, NULL, WRITES},
		{0, USER, 0700, BELONGS "1000)", BELONGS "1000)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].user);
		own(rows[i].owner, rows[i].mode);
		printf("# user %d, owner %d, mode %o\n", rows[i].user, rows[i].owner, rows[i].mode);
		if (rows[i].on_the_way)
			refuses("a/b", 0, -EPERM, rows[i].on_the_way);
		else
			is_u64(opens("a/b", 0), 0, "on the way");
		if (rows[i].last)
			refuses("a", 0, -EPERM, rows[i].last);
		else
			is_u64(opens("a", 0), 0, "the last one");
	}
}

/* A directory is made only in a directory of the user. */
static void test_creating(void)
{
	begin(USER);
	refuses("new", 1, -ENOENT, "new: No such file");
	kernel.file[0].owner = USER;
	kernel.make_error = ENOSPC;
	refuses("new", 1, -ENOSPC, "new: No space left on device");
	refuses("new", 0, -ENOENT, "new: No such file");
	own(USER, 0700);
	is_u64(opens("a", 1), 0, "a directory that is there already");
	kernel.file[3].name = "new";
	kernel.file[3].owner = USER;
	kernel.file[3].mode = 0700;
	is_u64(opens("new", 1), 0, "a directory is made");
	rmdir(path_of("new"));
}

/* Links in a directory that only root can change are followed, except the last one. */
static void test_links(void)
{
	if (symlink("a", path_of("link")))
		abort();
	for (int i = 0; i < 2; i++) {
		begin(i ? 0 : USER);
		own(kernel.user, 0700);
		is_u64(opens("link/b", 0), 0, "a link of root");
		refuses("link", 0, -ELOOP, "link: is a symbolic link, which is not followed");
		kernel.file[0].mode = 01775;
		refuses("link/b", 0, -ELOOP, "link: is a symbolic link");
		kernel.file[0].mode = 01757;
		refuses("link/b", 0, -ELOOP, "link: is a symbolic link");
		kernel.file[0].mode = 0755;
		kernel.file[0].owner = USER;
		if (!i)
			refuses("link/b", 0, -ELOOP, "link: is a symbolic link");
	}
	unlink(path_of("link"));
}

static void test_failures(void)
{
	begin(USER);
	own(USER, 0700);
	kernel.open_error = EMFILE;
	refuses("a", 0, -EMFILE, "/: Too many open files");
	kernel.stat_error = EIO;
	refuses("a", 0, -EIO, "/: Input/output error");
	ok(!strncmp(error, "/: ", 3), "the first directory is named: %s", error);
}

/* Reads a file behind the text "before". Returns 0 or -errno. */
static int read_it(int dir, const char *name, size_t most, const char *want)
{
	struct buf text = {};
	size_t before = open_fds();
	int err;

	buf_add(&text, "before", 6);
	error[0] = 0;
	err = private_read(dir, name, most, &text, error, sizeof(error));
	if (want)
		is_str(text.s, want, "the text is appended");
	buf_free(&text);
	if (open_fds() != before)
		ok(false, "a file stays open");
	return err;
}

static void test_reading(void)
{
	static const struct {
		uid_t user, owner;
		const char *why; /* why it is refused; NULL: it is not */
	} rows[] = {
		{USER, USER, NULL},
		{USER, 0, NULL},
		{USER, OTHER, "it: belongs to another user (uid 12345)"},
		{0, 0, NULL},
		{0, USER, "it: belongs to another user (uid 1000)"},
	};
	struct buf text = {.s = "text\n", .len = 5};
	int dir;

	begin(USER);
	own(USER, 0700);
	dir = private_directory(path_of("a"), 0, error, sizeof(error));
	is_u64(private_write(dir, "it", &text, error, sizeof(error)), 0, "a file is written");
	kernel.file[3].name = "a/it";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err;

		kernel.user = rows[i].user;
		kernel.file[3].owner = rows[i].owner;
		err = read_it(dir, "it", 5, rows[i].why ? "before" : "beforetext\n");
		ok(rows[i].why ? err == -EPERM && !strcmp(error, rows[i].why) : !err && !*error,
		   "user %d, owner %d: %d %s", rows[i].user, rows[i].owner, err, error);
	}
	kernel.user = kernel.file[3].owner = USER;
	ok(read_it(dir, "it", 4, NULL) == -EFBIG && !strcmp(error, "it: is larger than 4 bytes"),
	   "only what is read counts: %s", error);
	kernel.read_error = EIO;
	ok(read_it(dir, "it", 5, "before") == -EIO && !strcmp(error, "it: Input/output error"),
	   "a file that cannot be read: %s", error);
	kernel.stat_error = EIO;
	ok(read_it(dir, "it", 5, "before") == -EIO && !strcmp(error, "it: Input/output error"),
	   "a file without a type: %s", error);
	ok(read_it(dir, "none", 5, "before") == -ENOENT && !*error, "no file is no failure");
	ok(read_it(dir, "b", 5, "before") == -EINVAL && !strcmp(error, "b: is no regular file"),
	   "a directory: %s", error);
	ok(read_it(dir, "it/x", 5, "before") == -ENOTDIR && !strcmp(error, "it/x: Not a directory"),
	   "a file that cannot be opened: %s", error);
	close(dir);
}

static void test_no_memory(void)
{
	struct buf text = {};
	int dir = private_directory(path_of("a"), 0, error, sizeof(error)), err;

	memory_fail_after(0);
	err = private_read(dir, "it", 100, &text, error, sizeof(error));
	ok(memory_recovers() && err == -ENOMEM, "no memory for the text");
	is_str(error, "it: Cannot allocate memory", "this is told");
	buf_free(&text);
	close(dir);
}

/* Writes a file. Checks the error and its text. */
static void fails_to_write(int dir, int err, const char *why)
{
	struct buf text = {.s = "newer\n", .len = 6};
	size_t before = open_fds();
	int got = private_write(dir, "it", &text, error, sizeof(error));

	ok(got == err && !strcmp(error, why), "%d: %s", got, error);
	is_u64(open_fds(), before, "no file stays open");
}

static void test_writing(void)
{
	struct buf empty = {};
	int dir = private_directory(path_of("a"), 0, error, sizeof(error));

	kernel.sync_error = ENOSPC;
	kernel.sync_at = 1;
	fails_to_write(dir, -ENOSPC, "it: No space left on device");
	is_u64(read_it(dir, "it", 100, "beforetext\n"), 0, "the old text stays");
	kernel.sync_error = EIO;
	kernel.sync_at = 2;
	fails_to_write(dir, -EIO, "it: Input/output error");
	is_u64(read_it(dir, "it", 100, "beforenewer\n"), 0,
	       "if the directory is not synced, the new text is there");
	is_u64(private_write(dir, "it", &empty, error, sizeof(error)), 0, "an empty text");
	is_u64(read_it(dir, "it", 100, "before"), 0, "makes an empty file");
	unlinkat(dir, "it", 0);
	close(dir);
}

int main(void)
{
	if (!mkdtemp(top) || mkdir(path_of("a"), 0700) || mkdir(path_of("a/b"), 0700))
		abort();
	test_directories();
	test_creating();
	test_links();
	test_failures();
	test_reading();
	test_no_memory();
	test_writing();
	ok(!rmdir(path_of("a/b")) && !rmdir(path_of("a")) && !rmdir(top), "nothing is left");
	return tap_done();
}
