// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what happens if a system call fails while files below a root are read: kernels without
 * openat2(2), files that cannot be read, and a lack of memory. No file is left open.
 */
#define _GNU_SOURCE
#include "failing_memory.h"
#include "fakeroot.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>

#include "collect/files/rooted_file.h"
#include "open_files.h"
#include "tap.h"

static struct fakeroot root;
static struct files files;
static int openat2_error, open_error, read_error, readdir_error; /* errno; 0: the call succeeds */
static unsigned int reads_left; /* reads that succeed before read_error */
static char opened[512];	/* the last path of openat() */

/* Reads arguments that a caller may not have given, as the C library's syscall() does. */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat2 && openat2_error) {
		errno = openat2_error;
		return -1;
	}
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int open(const char *path, int flags, ...)
{
	if (open_error && !strncmp(path, "/proc/self/fd/", 14)) {
		errno = open_error;
		return -1;
	}
	return syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}

int openat(int dir, const char *path, int flags, ...)
{
	snprintf(opened, sizeof(opened), "%s", path);
	return syscall(SYS_openat, dir, path, flags, 0600);
}

ssize_t read(int fd, void *ret, size_t size)
{
	if (read_error && !reads_left--) {
		errno = read_error;
		return -1;
	}
	return syscall(SYS_read, fd, ret, size);
}

/* With _FORTIFY_SOURCE, the compiler calls these functions instead. */
int __openat_2(int dir, const char *path, int flags);
int __openat_2(int dir, const char *path, int flags)
{
	return openat(dir, path, flags);
}

ssize_t __read_chk(int fd, void *ret, size_t size, size_t room);
ssize_t __read_chk(int fd, void *ret, size_t size, size_t room)
{
	return size <= room ? read(fd, ret, size) : -1;
}

struct dirent *readdir(DIR *d)
{
	static struct dirent *(*real)(DIR *);

	if (readdir_error) {
		errno = readdir_error;
		return NULL;
	}
	if (!real)
		real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	return real(d);
}

static void begin(void)
{
	files = (struct files){.root = root.fd};
	openat2_error = open_error = read_error = readdir_error = 0;
	reads_left = 0;
	opened[0] = 0;
}

/* Reads a file. Compares the result, the text (NULL: none) and what counts as not read. */
static void reads(const char *path, int want, const char *want_text, uint32_t unread,
		  const char *name)
{
	size_t before = open_fds(), len = 77;
	char *text = NULL;

	is_u64(-file_read(&files, path, &text, &len), -want, name);
	is_str(text, want_text, "its text");
	is_u64(len, want_text ? strlen(want_text) : 77, "its length");
	is_u64(files.unread, unread, "files that were not read");
	is_u64(open_fds(), before, "all files are closed");
	free(text);
}

/* Without openat2(2), a path is opened below faultscope's own root, but not below another one. */
static void test_old_kernels(void)
{
	static const struct {
		int error;
		bool foreign;
		const char *path;
		int want;
		const char *opened; /* the path that is opened instead; "": none */
		const char *name;
	} rows[] = {
		{ENOSYS, false, "/etc/a.conf", 0, "etc/a.conf", "a kernel without openat2()"},
		{EPERM, false, "/etc/a.conf", 0, "etc/a.conf", "a container without openat2()"},
		{ENOSYS, false, "//etc/a.conf", 0, "etc/a.conf", "two slashes"},
		{ENOSYS, false, "etc/a.conf", 0, "etc/a.conf", "no slash"},
		{ENOSYS, false, "/etc/none", -ENOENT, "etc/none", "a missing file"},
		{ENOSYS, true, "/etc/a.conf", -ENOSYS, "", "the root of another process"},
		{EPERM, true, "/etc/a.conf", -EPERM, "",
		 "the root of another process, in a container"},
		{EACCES, false, "/etc/a.conf", -EACCES, "", "no permission"},
		{ELOOP, false, "/etc/a.conf", -ELOOP, "", "too many links"},
		{ENOENT, false, "/etc/a.conf", -ENOENT, "", "no file"},
		{ENOTDIR, false, "/etc/a.conf", -ENOTDIR, "", "a file in place of a directory"},
		{ESRCH, false, "/etc/a.conf", -ESRCH, "", "a process that has ended"},
		{0, true, "/etc/a.conf", 0, "", "a kernel with openat2()"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool missing = rows[i].want == -ENOENT || rows[i].want == -ENOTDIR ||
			       rows[i].want == -ESRCH;

		begin();
		files.foreign = rows[i].foreign;
		openat2_error = rows[i].error;
		reads(rows[i].path, rows[i].want, rows[i].want ? NULL : "text",
		      rows[i].want && !missing, rows[i].name);
		is_str(opened, rows[i].opened, "the path that is opened instead");
		ok(file_exists(&files, rows[i].path) == !rows[i].want, "whether it exists");
	}
}

static void test_unreadable(void)
{
	begin();
	open_error = EACCES;
	reads("/etc/a.conf", -EACCES, NULL, 1, "a file that may not be opened");
	begin();
	open_error = ENXIO;
	reads("/etc/a.conf", -ENXIO, NULL, 1, "a file that cannot be opened");
	begin();
	read_error = EIO;
	reads("/etc/a.conf", -EIO, NULL, 1, "a file that cannot be read");
	begin();
	read_error = EISDIR;
	reads_left = 1;
	reads("/etc/a.conf", -EISDIR, NULL, 1, "an error behind the first part");
	begin();
	read_error = ESRCH;
	reads("/etc/a.conf", -ESRCH, NULL, 0, "a file of a process that has ended");
	begin();
	reads("/etc", -EINVAL, NULL, 1, "a directory");
}

static void test_no_memory(void)
{
	begin();
	memory_fail_after(0);
	reads("/etc/a.conf", -ENOMEM, NULL, 1, "no memory for the text");
	ok(memory_recovers(), "an allocation has failed");
	begin();
	memory_fail_after(1);
	reads("/etc/a.conf", 0, "text", 0, "no memory for a smaller copy");
	ok(memory_recovers(), "an allocation has failed");
}

static size_t visited;

static void visit(void *ctx, const char *path, struct span text)
{
	visited += ctx == &visited && strstr(path, ".conf") && text.len == 4;
}

static void test_lists(void)
{
	size_t before = open_fds();

	for (long fails = 0; fails < 3; fails++) {
		struct file_list l = {};

		begin();
		visited = 0;
		/* opendir() allocates memory first, and then the list does, twice */
		memory_fail_after(1 + fails);
		file_list_add_dir(&files, &l, "/etc");
		ok(memory_recovers() == (fails < 2), "whether an allocation has failed");
		is_u64(files.unread, fails < 2, "a directory without memory counts as not read");
		is_u64(l.n, fails < 2 ? 0 : 1, "its files");
		file_list_add_dir(&files, &l, "/etc");
		file_list_each(&files, &l, visit, &visited);
		is_u64(visited, 1, "later there is memory");
		file_list_free(&l);
		is_u64(open_fds(), before, "all files are closed");
	}
	for (int i = 0; i < 4; i++) {
		static const int errors[] = {EACCES, ENOENT, ENOTDIR, EIO};
		struct file_list l = {};

		begin();
		openat2_error = errors[i];
		file_list_add_dir(&files, &l, "/etc");
		is_u64(files.unread, i == 0 || i == 3, strerror(errors[i]));
		ok(!l.n && !l.dirs, "no files");
		file_list_free(&l);
	}
	begin();
	readdir_error = EIO;
	file_list_add_dir(&files, &(struct file_list){}, "/none");
	is_u64(files.unread, 0, "a missing directory");
	{
		struct file_list l = {};

		file_list_add_dir(&files, &l, "/etc");
		is_u64(files.unread, 1, "a directory that cannot be read");
		is_u64(l.n, 0, "it has no files");
		file_list_free(&l);
	}
	is_u64(open_fds(), before, "all files are closed");
}

int main(void)
{
	root = fakeroot_make();
	fake_file(&root, "etc/a.conf", "text");
	test_old_kernels();
	test_unreadable();
	test_no_memory();
	test_lists();
	fakeroot_free(&root);
	return tap_done();
}
