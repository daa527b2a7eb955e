// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which files of a watched process are used as its perf map and as its mapped files. The
 * functions that open files of a process are replaced: the test says what they find.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/files/target_file.h"
#include "collect/symbols/mapped_file.h"
#include "collect/symbols/perf_map.h"
#include "open_files.h"
#include "tap.h"

#define PROC  555 /* descriptors that no function uses itself */
#define INODE 42

static struct target_identity identity;
static int identity_error, root_error;
static struct stat found;
static int plain_error, link_error, exe_error, path_error; /* 0: the file is opened */
static ino_t exe_inode, path_inode;
static char calls[256];

static void note(const char *what, const char *path)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s%s:%s", len ? " " : "", what, path);
}

static int some_file(int error)
{
	return error ? error : memfd_create("file", MFD_CLOEXEC);
}

int target_identity_read(int proc, struct target_identity *ret)
{
	note("identity", proc == PROC ? "" : "?");
	*ret = identity;
	return identity_error;
}

int target_root_open(int proc)
{
	note("root", proc == PROC ? "" : "?");
	return some_file(root_error);
}

int target_plain_open(int root, const char *path, struct stat *ret)
{
	note("plain", fcntl(root, F_GETFD) < 0 ? "?" : path);
	*ret = found;
	return some_file(plain_error);
}

int target_link_open(int proc, const char *name, struct stat *ret)
{
	bool exe = !strcmp(name, "exe");

	note("link", proc == PROC ? name : "?");
	*ret = (struct stat){.st_ino = exe ? exe_inode : INODE + 1};
	return some_file(exe ? exe_error : link_error);
}

int target_path_open(int root, const char *path, struct stat *ret)
{
	note("path", root == PROC + 1 ? path : "?");
	*ret = (struct stat){.st_ino = path_inode};
	return some_file(path_error);
}

/* Only root and the effective user of a process may own its perf map. */
static void test_perf_map(void)
{
	static const struct {
		int identity_error, root_error, plain_error;
		uid_t owner;
		int want;
		const char *calls, *name;
	} rows[] = {
		{0, 0, 0, 1000, 0, "identity: root: plain:/tmp/perf-7.map", "a file of the user"},
		{0, 0, 0, 0, 0, "identity: root: plain:/tmp/perf-7.map", "a file of root"},
		{0, 0, 0, 1001, -EPERM, "identity: root: plain:/tmp/perf-7.map",
		 "a file of another user"},
		{0, 0, 0, 1, -EPERM, "identity: root: plain:/tmp/perf-7.map",
		 "a file of a system user"},
		{0, 0, -ENOENT, 1000, -ENOENT, "identity: root: plain:/tmp/perf-7.map", "no file"},
		{0, 0, -EINVAL, 0, -EINVAL, "identity: root: plain:/tmp/perf-7.map",
		 "no regular file"},
		{0, -EACCES, 0, 1000, -EACCES, "identity: root:", "no root directory"},
		{-ESRCH, 0, 0, 1000, -ESRCH, "identity:", "a process that has ended"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_map m = {.fd = -7, .read = 9};
		size_t before = open_fds();

		calls[0] = 0;
		identity = (struct target_identity){.euid = 1000, .pid = 7};
		identity_error = rows[i].identity_error;
		root_error = rows[i].root_error;
		plain_error = rows[i].plain_error;
		found = (struct stat){.st_uid = rows[i].owner};
		is_u64(-perf_map_open(PROC, &m), -rows[i].want, rows[i].name);
		is_str(calls, rows[i].calls, "the calls for it");
		if (rows[i].want)
			ok(m.fd == -7 && m.read == 9, "the perf map is not changed");
		else
			ok(m.fd >= 0 && !m.read && !m.table.n, "an empty perf map with its file");
		is_u64(open_fds(), before + !rows[i].want, "no other file is open");
		if (!rows[i].want)
			perf_map_close(&m);
	}
}

/* A mapped file is opened by its mapping, as the program of the process, or by its path. */
static void test_mapped_file(void)
{
	static const struct {
		int link_error, exe_error, path_error;
		ino_t exe_inode, path_inode;
		bool opened, unproven;
		const char *calls, *name;
	} rows[] = {
		{0, 0, 0, 0, 0, true, false, "link:map_files/1000-2fff", "by its mapping"},
		{-EPERM, 0, 0, INODE, 0, true, false, "link:map_files/1000-2fff link:exe",
		 "the program"},
		{-EPERM, 0, 0, 9, INODE, true, false,
		 "link:map_files/1000-2fff link:exe path:/lib/x.so", "a library"},
		{-EPERM, 0, 0, 9, 8, true, true, "link:map_files/1000-2fff link:exe path:/lib/x.so",
		 "another file at its path"},
		{-EPERM, -EACCES, 0, INODE, INODE, true, false,
		 "link:map_files/1000-2fff link:exe path:/lib/x.so",
		 "a program that cannot be opened"},
		{-EPERM, 0, -ENOENT, 9, INODE, false, false,
		 "link:map_files/1000-2fff link:exe path:/lib/x.so", "no file at its path"},
		{-ENOENT, -ENOENT, -EINVAL, 0, 0, false, false,
		 "link:map_files/1000-2fff link:exe path:/lib/x.so", "no file at all"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct exec_map m = {.start = 0x1000, .end = 0x2fff, .inode = INODE};
		size_t before = open_fds();
		bool unproven = true;
		int fd;

		calls[0] = 0;
		link_error = rows[i].link_error;
		exe_error = rows[i].exe_error;
		path_error = rows[i].path_error;
		exe_inode = rows[i].exe_inode;
		path_inode = rows[i].path_inode;
		fd = mapped_file_open(PROC, PROC + 1, &m, "/lib/x.so", &unproven);
		if (rows[i].opened)
			ok(fd >= 0, "%s", rows[i].name);
		else
			ok(fd == rows[i].path_error, "%s: %d", rows[i].name, fd);
		is_u64(unproven, rows[i].unproven, "whether it may be another file");
		is_str(calls, rows[i].calls, "the files that were tried");
		if (fd >= 0)
			close(fd);
		is_u64(open_fds(), before, "no other file is open");
	}
}

/* The kernel marks the path of a deleted file. */
static void test_deleted(void)
{
	static const struct {
		const char *path, *want;
		size_t size;
		bool deleted;
	} rows[] = {
		{"/lib/x.so", "/lib/x.so", 64, false},
		{"/lib/x.so (deleted)", "/lib/x.so", 64, true},
		{"/x (deleted)", "/x", 64, true},
		{"/ (deleted)", "/ (deleted)", 64, false},
		{" (deleted)", " (deleted)", 64, false},
		{"/lib/x.so (deleted) ", "/lib/x.so (deleted) ", 64, false},
		{"/lib/x.so(deleted)", "/lib/x.so(deleted)", 64, false},
		{"/lib/x.so (deleted) (deleted)", "/lib/x.so (deleted)", 64, true},
		{"/lib/x.so", "/lib/x.so", 10, false},
		{"/lib/x.so", "/lib/x.s", 9, false},
		{"", "", 64, false},
	};
	char got[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct exec_map m = {.path = rows[i].path};
		bool deleted = mapped_file_path(&m, got, rows[i].size);

		is_str(got, rows[i].want, rows[i].path);
		is_u64(deleted, rows[i].deleted, "whether it is deleted");
	}
}

int main(void)
{
	test_perf_map();
	test_mapped_file();
	test_deleted();
	return tap_done();
}
