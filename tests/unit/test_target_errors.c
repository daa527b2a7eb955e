// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how a process is opened if its files in /proc are damaged, missing or refused, or if its
 * main thread has exited. /proc is that of the test. No file is left open.
 */
#define _GNU_SOURCE
#include "fakeroot.h"

#include <errno.h>
#include <sys/syscall.h>

#include "collect/files/target_file.h"
#include "open_files.h"
#include "tap.h"

#define PID	300
#define SECOND	1000000000ULL
#define IN_PROC "proc/300/"

static struct fakeroot root;
static char refused[64]; /* the path that cannot be opened */
static int refusal;	 /* errno for it */

int open(const char *path, int flags, ...)
{
	bool made = !strncmp(path, "/proc/", 6) && strncmp(path, "/proc/self/", 11) != 0;

	if (refused[0] && !strncmp(path, refused, strlen(refused))) {
		errno = refusal;
		return -1;
	}
	return syscall(SYS_openat, made ? root.fd : AT_FDCWD, made ? path + 1 : path, flags, 0600);
}

static void refuse(const char *path, int error)
{
	strcpy(refused, path);
	refusal = error;
}

static void put_stat(const char *format, unsigned long long ticks)
{
	char text[256];

	snprintf(text, sizeof(text), format, ticks);
	fake_file(&root, IN_PROC "stat", "%s", text);
}

#define FIELDS "S 1 2 3 4 5 0 7 8 9 10 11 12 13 14 15 16 17 18"

/* The time at which a process was born is field 22 of its stat, which follows its name. */
static void test_birth(void)
{
	const unsigned long long second = sysconf(_SC_CLK_TCK);
	static const struct {
		const char *format;
		bool born;
		const char *name;
	} rows[] = {
		{"300 (a) " FIELDS " %llu 20 21\n", true, "a process"},
		{"300 (a) b) " FIELDS " %llu 20 21\n", true, "a bracket in its name"},
		{"300 (1 2 3) " FIELDS " %llu", true, "numbers in its name"},
		{"300 (a) " FIELDS " x%llu 20\n", false, "no number"},
		{"300 (a) " FIELDS "\n", false, "no field 22"},
		{"300 a " FIELDS " %llu 20\n", false, "no bracket"},
		{"300 (a) 0 " FIELDS " %llu 20\n", false, "one field more before it"},
		{"", false, "an empty file"},
	};
	int proc;

	fake_file(&root, IN_PROC "stat", "%s", "");
	proc = syscall(SYS_openat, root.fd, "proc/300", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_stat(rows[i].format, 5 * second);
		ok(target_born_at(proc, 5 * SECOND) == rows[i].born, "%s", rows[i].name);
		ok(!target_born_at(proc, 6 * SECOND), "born at another time");
	}
	fake_remove(&root, IN_PROC "stat");
	ok(!target_born_at(proc, 5 * SECOND), "no file");
	ok(!target_born_at(proc, 0), "no file and no time");
	close(proc);
}

/* Opens the process, and compares the directory (NULL: an error) and the result. */
static void opens(uint64_t start_ns, const char *want_dir, int want, const char *name)
{
	struct process_key of = {.pid = PID, .start_ns = start_ns};
	size_t before = open_fds();
	struct stat got, st;
	int fd = target_open(&of);

	if (want_dir)
		ok(fd >= 0 && !fstat(fd, &got) && !fstatat(root.fd, want_dir, &st, 0) &&
			   got.st_ino == st.st_ino,
		   "%s", name);
	else
		ok(fd == want, "%s: %d", name, fd);
	if (fd >= 0)
		close(fd);
	is_u64(open_fds(), before, "all files are closed");
}

static void test_open(void)
{
	const unsigned long long second = sysconf(_SC_CLK_TCK);
	static const struct {
		const char *status; /* of thread 301; NULL: none */
		bool opened;
		const char *name;
	} threads[] = {
		{"Name:\ta\nTgid:\t300\nPid:\t301\n", true, "a thread of the process"},
		{"Name:\ta\nTgid:\t301\nPid:\t301\n", false, "another process"},
		{"Name:\ta\nTgid:\t3000\nPid:\t301\n", false, "a pid that begins alike"},
		{"Tgid:\t300\n", false, "a name that looks like a line"},
		{"Name:\ta\n", false, "no line"},
		{"", false, "an empty file"},
		{NULL, false, "no file"},
	};

	put_stat("300 (a) " FIELDS " %llu 20 21\n", 5 * second);
	opens(5 * SECOND, "proc/300", 0, "a process");
	opens(6 * SECOND, NULL, -ESRCH, "a process that had this pid");
	opens(0, "proc/300", 0, "a process of an unknown time");
	refuse("/proc/300", EACCES);
	opens(5 * SECOND, NULL, -EACCES, "a process that is hidden");
	refuse("/proc/300", ENOENT);
	opens(5 * SECOND, NULL, -ESRCH, "a process that is gone");
	refuse("", 0);
	fake_remove(&root, IN_PROC "stat");
	opens(5 * SECOND, NULL, -ESRCH, "a process that ends meanwhile");

	put_stat("300 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 %llu 20\n", 5 * second);
	fake_file(&root, IN_PROC "task/301/stat", "301 (a) S 1 2 3 4 5 0\n");
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		fake_file(&root, "proc/301/status", "%s", threads[i].status ?: "");
		if (!threads[i].status)
			fake_remove(&root, "proc/301/status");
		opens(0, threads[i].opened ? "proc/301" : NULL, -ESRCH, threads[i].name);
	}
	refuse("/proc/301", ENOENT);
	opens(0, NULL, -ESRCH, "a thread that has ended");
}

static void test_identity(void)
{
	static const struct {
		const char *status;
		int want;
		uint32_t euid, pid;
		const char *name;
	} rows[] = {
		{"Name:\ta\nUid:\t1\t2\t3\t4\nNSpid:\t300\n", 0, 2, 300, "a process"},
		{"Name:\ta\nUid:\t1\t2\t3\t4\nNSpid:\t300\t20\t1\n", 0, 2, 1, "nested namespaces"},
		{"Name:\ta\nUid:\t1\t2\t3\t4\n", -EBADMSG, 9, 9, "no pid"},
		{"Name:\ta\nNSpid:\t300\n", -EBADMSG, 9, 9, "no user"},
		{"", -EBADMSG, 9, 9, "an empty file"},
		{NULL, -ENOENT, 9, 9, "no file"},
	};
	int proc;

	fake_file(&root, IN_PROC "status", "%s", "");
	proc = syscall(SYS_openat, root.fd, "proc/300", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct target_identity id = {9, 9};

		fake_file(&root, IN_PROC "status", "%s", rows[i].status ?: "");
		if (!rows[i].status)
			fake_remove(&root, IN_PROC "status");
		is_u64(-target_identity_read(proc, &id), -rows[i].want, rows[i].name);
		ok(id.euid == rows[i].euid && id.pid == rows[i].pid, "user %u, pid %u", id.euid,
		   id.pid);
	}
	ok(target_root_open(proc) == -ENOENT, "a process without a root directory");
	close(proc);
}

/* A regular file is opened by its descriptor, which may fail. The result is then not changed. */
static void test_reopen(void)
{
	size_t before = open_fds();
	struct stat st = {.st_ino = 77};
	int fd;

	fake_file(&root, "tmp/file", "text");
	refuse("", 0);
	fd = target_path_open(root.fd, "/tmp/file", &st);
	ok(fd >= 0 && st.st_ino != 77 && st.st_size == 4, "a file");
	close(fd);
	fd = target_link_open(root.fd, "tmp/file", &st);
	ok(fd >= 0 && st.st_size == 4, "a file by a link");
	close(fd);
	refuse("/proc/self/fd/", EACCES);
	st.st_ino = 77;
	ok(target_path_open(root.fd, "/tmp/file", &st) == -EACCES, "a file that may not be read");
	ok(target_plain_open(root.fd, "/tmp/file", &st) == -EACCES, "nor in this way");
	ok(target_link_open(root.fd, "tmp/file", &st) == -EACCES, "nor by a link");
	ok(target_path_open(root.fd, "/tmp", &st) == -EINVAL, "a directory");
	ok(target_link_open(root.fd, "tmp", &st) == -EINVAL, "a directory by a link");
	ok(target_path_open(root.fd, "/tmp/none", &st) == -ENOENT, "no file");
	ok(target_link_open(root.fd, "tmp/none", &st) == -ENOENT, "no file by a link");
	is_u64(st.st_ino, 77, "nothing was returned");
	is_u64(open_fds(), before, "all files are closed");
}

int main(void)
{
	root = fakeroot_make();
	test_birth();
	test_open();
	test_identity();
	test_reopen();
	refuse("", 0);
	fakeroot_free(&root);
	return tap_done();
}
