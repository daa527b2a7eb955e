// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the search for files that fill a file system if some entries cannot be read: then nothing
 * is known of space without a name. Also tests how many entries are read at most. Directories are
 * those of the test, and their entries can be repeated.
 */
#define _GNU_SOURCE
#include "fakeroot.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>

#include "collect/pressure/tmpfs_files.h"
#include "open_files.h"
#include "tap.h"

static struct fakeroot root;
static const char *refused;  /* a directory that cannot be opened; NULL: none */
static const char *vanished; /* an entry that is removed meanwhile; NULL: none */
static int readdir_error, fdopendir_error, fstat_error; /* errno; 0: the call succeeds */
static dev_t other_device; /* added to the device of the entry `elsewhere` */
static const char *elsewhere;
static long repeats; /* how often the entry "a" is returned; 0: the real entries */

int openat(int dir, const char *path, int flags, ...)
{
	if (refused && !strcmp(path, refused)) {
		errno = EACCES;
		return -1;
	}
	return syscall(SYS_openat, dir, path, flags, 0600);
}

int fstatat(int dir, const char *path, struct stat *ret, int flags)
{
	static int (*real)(int, const char *, struct stat *, int);
	int err;

	if (vanished && !strcmp(path, vanished)) {
		errno = ENOENT;
		return -1;
	}
	if (!real)
		real = (int (*)(int, const char *, struct stat *, int))dlsym(RTLD_NEXT, "fstatat");
	err = real(dir, path, ret, flags);
	if (elsewhere && !strcmp(path, elsewhere))
		ret->st_dev += other_device;
	return err;
}

int fstat(int fd, struct stat *ret)
{
	static int (*real)(int, struct stat *);

	if (fstat_error) {
		errno = fstat_error;
		return -1;
	}
	if (!real)
		real = (int (*)(int, struct stat *))dlsym(RTLD_NEXT, "fstat");
	return real(fd, ret);
}

DIR *fdopendir(int fd)
{
	static DIR *(*real)(int);

	if (fdopendir_error) {
		errno = fdopendir_error;
		return NULL;
	}
	if (!real)
		real = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");
	return real(fd);
}

struct dirent *readdir(DIR *d)
{
	static struct dirent *(*real)(DIR *);
	static struct dirent a = {.d_name = "a"};

	if (readdir_error) {
		errno = readdir_error;
		return NULL;
	}
	if (repeats)
		return --repeats ? &a : NULL;
	if (!real)
		real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	return real(d);
}

/* Makes a file of some pages. Returns the space that it takes. */
static uint64_t put(const char *name, int pages)
{
	char path[512];
	struct stat st;
	int fd = open(fake_path(&root, name, path, sizeof(path)), O_RDWR | O_CREAT | O_CLOEXEC,
		      0600);

	if (fd < 0 || posix_fallocate(fd, 0, pages * 4096) || fstat(fd, &st))
		exit(1);
	close(fd);
	return st.st_blocks * 512;
}

static struct mount_record read_files(uint64_t used)
{
	struct mount_record r = {.used_bytes = used};
	size_t before = open_fds();
	char path[256];

	tmpfs_files_read(fake_path(&root, "files", path, sizeof(path)), &r);
	is_u64(open_fds(), before, "all directories are closed");
	return r;
}

static void test_errors(uint64_t sum)
{
	struct mount_record r;

	r = read_files(sum + 5);
	is_u64(r.unnamed_bytes, 5, "all entries are read");
	refused = "dir";
	r = read_files(sum + 5);
	is_str(r.largest, "a", "a directory that cannot be opened");
	is_u64(r.unnamed_bytes, 0, "space without a name is not known");
	refused = NULL;
	fdopendir_error = ENOMEM;
	r = read_files(sum + 5);
	ok(!r.largest[0] && !r.unnamed_bytes, "directories that cannot be read");
	fdopendir_error = 0;
	readdir_error = EIO;
	r = read_files(sum + 5);
	ok(!r.largest[0] && !r.unnamed_bytes, "an error while a directory is read");
	readdir_error = 0;
	fstat_error = EIO;
	r = read_files(sum + 5);
	ok(!r.largest[0] && !r.unnamed_bytes, "a mount whose device is not known");
	fstat_error = 0;
}

/* Entries that are gone, or on another file system, take no space. */
static void test_entries(uint64_t a, uint64_t b)
{
	struct mount_record r;

	vanished = "a";
	r = read_files(a + b);
	is_str(r.largest, "dir/b", "a file that is removed meanwhile");
	is_u64(r.unnamed_bytes, a, "its space has no name any more");
	vanished = NULL;
	elsewhere = "dir";
	other_device = 1;
	r = read_files(a + b);
	is_str(r.largest, "a", "a directory on another file system");
	is_u64(r.unnamed_bytes, b, "is not searched");
	elsewhere = "b";
	r = read_files(a + b);
	is_u64(r.unnamed_bytes, b, "a file on another file system");
	elsewhere = NULL;
}

static void test_most(uint64_t a)
{
	for (long entries = TMPFS_ENTRIES_MOST - 1; entries <= TMPFS_ENTRIES_MOST + 1; entries++) {
		struct mount_record r;

		repeats = entries + 1;
		r = read_files(a * entries + 5);
		repeats = 0;
		is_str(r.largest, "a", "the largest file");
		is_u64(r.unnamed_bytes, entries <= TMPFS_ENTRIES_MOST ? 5 : 0,
		       "space without a name, if all entries were read");
	}
}

int main(void)
{
	uint64_t a, b;

	root = fakeroot_make();
	a = put("files/a", 4);
	b = put("files/dir/b", 2);
	test_errors(a + b);
	test_entries(a, b);
	test_most(a);
	fakeroot_free(&root);
	return tap_done();
}
