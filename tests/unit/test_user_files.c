// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the files of user stacks: how many stay open, which one is closed first, and by what a file
 * is found again. All files are this program, with identities that the test gives.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/symbols/user_files.h"
#include "collect/symbols/user_symbols.h"
#include "tap.h"

static struct user_symbols us;

static void begin(size_t most)
{
	us = (struct user_symbols){.our_root = -1};
	if (user_files_open(&us))
		exit(1);
	us.files->most = most;
}

static int program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		exit(1);
	return fd;
}

static struct user_file_id id_of(__u64 inode)
{
	return (struct user_file_id){.inode = inode, .dev_major = 8, .dev_minor = 1};
}

static struct user_file *add(__u64 inode, const char *path)
{
	struct user_file_id id = id_of(inode);

	return user_files_add(&us, &id, program(), path, -1);
}

/* Returns whether a file is open. */
static bool has(__u64 inode, const char *path)
{
	struct user_file_id id = id_of(inode);

	return user_files_find(&us, &id, path);
}

/* Half of the allowed descriptors at most are used for files. */
static void test_most(void)
{
	static const struct {
		rlim_t limit;
		size_t want;
	} rows[] = {{0, 1},
		    {1, 1},
		    {2, 1},
		    {3, 1},
		    {4, 2},
		    {2 * USER_FILES_MAX - 1, USER_FILES_MAX - 1},
		    {2 * USER_FILES_MAX, USER_FILES_MAX},
		    {2 * USER_FILES_MAX + 2, USER_FILES_MAX}};
	struct rlimit was, now;

	getrlimit(RLIMIT_NOFILE, &was);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].limit > was.rlim_max)
			continue;
		now = (struct rlimit){rows[i].limit, was.rlim_max};
		setrlimit(RLIMIT_NOFILE, &now);
		us = (struct user_symbols){};
		if (user_files_open(&us))
			exit(1);
		ok(us.files->most == rows[i].want, "a limit of %ju descriptors: %zu files",
		   (uintmax_t)rows[i].limit, us.files->most);
		user_files_close(&us);
		setrlimit(RLIMIT_NOFILE, &was);
	}
	ok(!us.files, "closed");
	user_files_close(&us);
}

static void test_finding(void)
{
	char same[USER_MODULE_BYTES + 1] = "", shorter[USER_MODULE_BYTES] = "";
	struct user_file *f;
	static const struct {
		struct user_file_id id;
		const char *path;
		bool want;
		const char *name;
	} rows[] = {
		{{5, 8, 1}, "/usr/lib/libc.so.6", true, "the same file"},
		{{5, 8, 1}, "/other/place/libc.so.6", true, "by another path to its directory"},
		{{5, 8, 1}, "libc.so.6", true, "without a directory"},
		{{5, 8, 1}, "/usr/lib/libm.so.6", false, "another name, on btrfs"},
		{{5, 8, 1}, "/libc.so.6/", false, "no name"},
		{{6, 8, 1}, "/usr/lib/libc.so.6", false, "another inode"},
		{{5, 9, 1}, "/usr/lib/libc.so.6", false, "another device"},
		{{5, 8, 2}, "/usr/lib/libc.so.6", false, "another partition"},
	};

	begin(8);
	f = add(5, "/usr/lib/libc.so.6");
	is_str(f->module, "libc.so.6", "the name of a file");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(user_files_find(&us, &rows[i].id, rows[i].path) == (rows[i].want ? f : NULL),
		   "%s", rows[i].name);
	for (size_t i = 0; i < USER_MODULE_BYTES; i++)
		same[i] = 'a' + i % 26;
	f = add(7, same);
	memcpy(shorter, same, USER_MODULE_BYTES - 1);
	is_str(f->module, shorter, "a long name is cut");
	ok(has(7, same) && has(7, shorter), "but found again");
	shorter[USER_MODULE_BYTES - 2] = 0;
	ok(!has(7, shorter), "a shorter name is another one");
	shorter[USER_MODULE_BYTES - 2] = '!';
	ok(!has(7, shorter), "the last character counts");
	user_files_close(&us);
}

static void test_serials(void)
{
	struct user_file *a, *b;
	__u8 other[BUILD_ID_BYTES] = {1, 2, 3};
	__u32 serial;

	begin(1);
	a = add(1, "/a");
	serial = a->serial;
	ok(serial && user_files_get(&us, 0, serial) == a, "a file by its serial");
	ok(!user_files_get(&us, 0, serial + 1), "a serial that was not given yet");
	ok(!user_files_get(&us, 0, 0), "no serial");
	ok(!user_files_get(&us, 1, serial), "another place");
	if (a->elf.h.build_id_bytes) {
		ok(user_files_by_build_id(&us, a->elf.h.build_id) == a, "by its build-id");
		ok(!user_files_by_build_id(&us, other), "another build-id");
	}
	b = add(2, "/b");
	ok(b == a && b->serial == serial + 1, "its place is used again, not its serial");
	ok(!user_files_get(&us, 0, serial), "the first file is closed");
	ok(!has(1, "/a") && has(2, "/b"), "and not found any more");
	is_u64(us.lost.files, 1, "which is counted");
	user_files_close(&us);
}

/* A file that is in a stack is closed after those that are not, the least recently used first. */
static void test_order_of_closing(void)
{
	struct user_symbol named;
	struct user_file *f;

	begin(3);
	f = add(1, "/first");
	add(2, "/second");
	add(3, "/third");
	is_u64(us.lost.files, 0, "as many as are allowed");
	user_file_name(&us, f, 0, &named);
	ok(f->named, "the first one was in a stack");
	add(4, "/fourth");
	ok(has(1, "/first") && !has(2, "/second") && has(3, "/third") && has(4, "/fourth"),
	   "the second one is closed");
	add(5, "/fifth");
	ok(has(1, "/first") && !has(3, "/third"), "then the third one");
	user_file_name(&us, user_files_find(&us, &(struct user_file_id){4, 8, 1}, "/fourth"), 0,
		       &named);
	user_file_name(&us, user_files_find(&us, &(struct user_file_id){5, 8, 1}, "/fifth"), 0,
		       &named);
	user_file_name(&us, f, 0, &named);
	add(6, "/sixth");
	ok(has(1, "/first") && !has(4, "/fourth") && has(5, "/fifth"),
	   "of those in stacks, the one that was used the longest ago");
	is_u64(us.lost.files, 3, "closed files are counted");
	us.files->most = 1;
	add(7, "/seventh");
	ok(has(7, "/seventh") && !has(1, "/first") && !has(5, "/fifth") && !has(6, "/sixth"),
	   "several are closed if fewer are allowed");
	is_u64(us.lost.files, 6, "all are counted");
	user_files_close(&us);
}

static void test_malformed(void)
{
	struct user_file_id id = id_of(1);
	int fd = memfd_create("text", MFD_CLOEXEC);

	begin(3);
	ok(write(fd, "no ELF", 6) == 6 && !user_files_add(&us, &id, fd, "/text", -1),
	   "a file that is no program");
	ok(fcntl(fd, F_GETFD) < 0, "is closed");
	is_u64(us.lost.malformed, 1, "and counted");
	ok(!has(1, "/text"), "it is not found");
	is_u64(us.files->serials, 0, "it has no serial");
	user_files_close(&us);
}

int main(void)
{
	elf_version(EV_CURRENT);
	test_most();
	test_finding();
	test_serials();
	test_order_of_closing();
	test_malformed();
	return tap_done();
}
