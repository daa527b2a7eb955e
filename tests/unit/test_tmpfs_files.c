// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which files fill a file system: the largest one, and space of files without a name. */
#define _GNU_SOURCE
#include "fakeroot.h"

#include "collect/pressure/tmpfs_files.h"
#include "tap.h"

#define PAGE 4096

static struct fakeroot root;

/* Makes a file of some pages. Returns the space that it takes. */
static uint64_t put(const char *name, int pages)
{
	char path[512];
	struct stat st;
	int fd = open(fake_path(&root, name, path, sizeof(path)), O_RDWR | O_CREAT | O_CLOEXEC,
		      0600);

	if (fd < 0 || posix_fallocate(fd, 0, pages * PAGE) || fstat(fd, &st))
		exit(1);
	close(fd);
	return st.st_blocks * 512;
}

static struct mount_record read_files(uint64_t used)
{
	struct mount_record r = {.used_bytes = used};
	char path[256];

	tmpfs_files_read(fake_path(&root, "files", path, sizeof(path)), &r);
	return r;
}

static void begin(void)
{
	char path[256];

	root = fakeroot_make();
	fake_path(&root, "files/", path, sizeof(path));
}

static void test_largest(void)
{
	struct mount_record r;
	uint64_t one, four;

	begin();
	r = read_files(7);
	ok(!r.largest[0] && !r.largest_bytes, "no files");
	is_u64(r.unnamed_bytes, 7, "all space is of files without a name");
	fake_file(&root, "files/empty", "%s", "");
	r = read_files(0);
	ok(!r.largest[0] && !r.largest_bytes, "an empty file takes no space");
	one = put("files/one", 1);
	r = read_files(0);
	is_str(r.largest, "one", "the only file that takes space");
	is_u64(r.largest_bytes, one, "its space");
	is_u64(r.largest_uid, geteuid(), "its user");
	four = put("files/a/b/four", 4);
	put("files/a/two", 2);
	r = read_files(0);
	is_str(r.largest, "a/b/four", "the largest file, by its path below the mount");
	is_u64(r.largest_bytes, four, "its space");
	fake_link(&root, "files/link", "/proc/self/exe");
	r = read_files(0);
	is_str(r.largest, "a/b/four", "a symbolic link is not followed");
	fakeroot_free(&root);
}

/* Space that is used beside all files with a name belongs to files without a name. */
static void test_unnamed(void)
{
	struct mount_record r;
	uint64_t sum;
	char path[512];

	begin();
	sum = put("files/a", 4);
	sum += put("files/b/c", 2);
	is_u64(read_files(sum + 1).unnamed_bytes, 1, "one byte more");
	is_u64(read_files(sum).unnamed_bytes, 0, "no space is left");
	is_u64(read_files(sum - 1).unnamed_bytes, 0, "a file has grown since");
	fake_path(&root, "files/a", path, sizeof(path));
	if (!linkat(AT_FDCWD, path, root.fd, "files/second", 0))
		is_u64(read_files(sum + 1).unnamed_bytes, 1, "a file of two names counts once");
	r = read_files(sum + 1);
	ok(!strcmp(r.largest, "a") || !strcmp(r.largest, "second"), "by one of its names: %s",
	   r.largest);
	fakeroot_free(&root);
}

/* Directories are searched eight levels deep. Behind them, files are not known. */
static void test_depth(void)
{
	struct mount_record r;
	uint64_t deep;
	char path[512];

	begin();
	deep = put("files/1/2/3/4/5/6/7/8/f", 1);
	r = read_files(deep + 1);
	is_str(r.largest, "1/2/3/4/5/6/7/8/f", "a file eight levels deep");
	is_u64(r.unnamed_bytes, 1, "all files were seen");
	fake_path(&root, "files/1/2/3/4/5/6/7/8/9/", path, sizeof(path));
	r = read_files(deep + 1);
	is_str(r.largest, "1/2/3/4/5/6/7/8/f", "with a directory that is deeper");
	is_u64(r.unnamed_bytes, 0, "space without a name is not known");
	fakeroot_free(&root);
}

#define TEN   "0123456789"
#define FORTY TEN TEN TEN TEN

/* Long paths and names are cut, so that both can be seen. */
static void test_long_names(void)
{
	struct mount_record r;

	begin();
	put("files/" FORTY "/" FORTY TEN "abcdef", 1);
	r = read_files(0);
	is_str(r.largest, FORTY FORTY TEN "abcd", "a long directory and a long name");
	fakeroot_free(&root);
	begin();
	put("files/" FORTY TEN "abcdef/f", 1);
	r = read_files(0);
	is_str(r.largest, FORTY "f", "a long directory");
	fakeroot_free(&root);
}

static void test_no_directory(void)
{
	struct mount_record r = {.used_bytes = 5, .unnamed_bytes = 6, .largest = "x"};

	tmpfs_files_read("/proc/none", &r);
	ok(r.unnamed_bytes == 6 && !strcmp(r.largest, "x"), "nothing changes without a directory");
}

int main(void)
{
	test_largest();
	test_unnamed();
	test_depth();
	test_long_names();
	test_no_directory();
	return tap_done();
}
