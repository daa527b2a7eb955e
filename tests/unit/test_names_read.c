// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which names of a process are read from /proc, and when its files are not read. /proc and
 * /etc/passwd are files of the test. No file is left open.
 */
#define _GNU_SOURCE
#include "fakeroot.h"

#include <sys/syscall.h>

#include "collect/names/process_names.h"
#include "open_files.h"
#include "tap.h"

#define PID	300
#define SECOND	1000000000ULL
#define IN_PROC "proc/300/"

static struct fakeroot root;
static struct names n;

int open(const char *path, int flags, ...)
{
	bool made = !strncmp(path, "/proc/", 6) && strncmp(path, "/proc/self/", 11) != 0;

	return syscall(SYS_openat, made ? root.fd : AT_FDCWD, made ? path + 1 : path, flags, 0600);
}

/* Writes the files of the process, which was born after 5 s. NULL: no such file. */
static void put_process(const char *exe, const char *cgroup, const char *command)
{
	const unsigned long long ticks = 5 * sysconf(_SC_CLK_TCK);

	fake_file(&root, IN_PROC "stat",
		  "300 (a) S 1 2 3 4 5 0 7 8 9 10 11 12 13 14 15 16 17 18 %llu 20\n", ticks);
	fake_remove(&root, IN_PROC "exe");
	fake_remove(&root, IN_PROC "cgroup");
	fake_remove(&root, IN_PROC "cmdline");
	if (exe)
		fake_link(&root, IN_PROC "exe", exe);
	if (cgroup)
		fake_file(&root, IN_PROC "cgroup", "%s", cgroup);
	if (command)
		fake_file(&root, IN_PROC "cmdline", "%s", command);
}

static void begin(void)
{
	n = (struct names){.root = dup(root.fd)};
	fake_file(&root, "proc/self/mountinfo", "%s", "");
	fake_file(&root, "etc/passwd", "ann:x:1000:1000::/home/ann:/bin/sh\n");
}

static struct names_record found;

/* Looks the names up. Compares whether program or cgroup are known. */
static void finds(uint64_t birth, uint32_t flags, uint32_t execs, bool want, const char *name)
{
	struct process_record r = {.subject = {birth, PID, 0},
				   .g = {.flags = flags, .execs = execs, .uid = 1000}};
	size_t before = open_fds();

	memset(&found, 0, sizeof(found));
	is_u64(names_find(&n, &r, &found), want, name);
	if (open_fds() != before)
		ok(false, "a file was left open");
}

static void test_find(void)
{
	begin();
	put_process("/bin/a", "0::/a.service\n", "a -x");
	finds(5 * SECOND, 0, 1, true, "a process");
	is_str(found.exe, "/bin/a", "its program");
	is_str(found.cgroup, "/a.service", "its cgroup");
	is_str(found.command, "", "no command line");
	is_str(found.user, "", "no user");
	finds(6 * SECOND, 0, 1, false, "another process that had this pid");
	finds(5 * SECOND, PROC_FINAL, 2, false, "a process that has ended, after another exec");
	finds(5 * SECOND, PROC_FINAL, 1, true, "a process that has ended");
	is_str(found.exe, "/bin/a", "its program is remembered");
	is_str(found.cgroup, "", "its files are not read");
	n.foreign = true;
	finds(5 * SECOND, 0, 1, true, "a process of another namespace");
	is_str(found.cgroup, "", "its files are not read");
	names_free(&n);
	ok(!n.root && !n.begun && !n.proc && !n.cgroup, "freed");
}

static void test_parts(void)
{
	static const struct {
		const char *exe, *cgroup;
		bool known;
		const char *name;
	} rows[] = {
		{"/bin/a", "0::/a\n", true, "program and cgroup"},
		{"/bin/a", NULL, true, "only the program"},
		{"/bin/a", "", true, "an empty file of the cgroup"},
		{NULL, "0::/a\n", true, "only the cgroup"},
		{NULL, "damaged\n", false, "a damaged file of the cgroup"},
		{NULL, NULL, false, "nothing"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct names_record read = {};
		size_t before;

		begin();
		put_process(rows[i].exe, rows[i].cgroup, NULL);
		finds(5 * SECOND, 0, 1, rows[i].known, rows[i].name);
		is_str(found.exe, rows[i].exe ?: "", "its program");
		is_str(found.cgroup, rows[i].cgroup && rows[i].cgroup[0] == '0' ? "/a" : "",
		       "its cgroup");
		names_free(&n);
		before = open_fds();
		is_u64(names_read(PID, &read), rows[i].known, "the names of an own pid");
		is_str(read.exe, found.exe, "its program");
		is_str(read.cgroup, found.cgroup, "its cgroup");
		is_u64(open_fds(), before, "all files are closed");
	}
	ok(!names_read(PID + 1, &(struct names_record){}), "a process that is gone");
}

/* If the main thread has exited, the name of the program is read from another thread. */
static void test_threads(void)
{
	begin();
	put_process(NULL, NULL, NULL);
	fake_file(&root, IN_PROC "task/300/stat", "300 (a) Z 1 2 3 4 5 0\n");
	fake_file(&root, IN_PROC "task/301/stat", "301 (a) S 1 2 3 4 5 0\n");
	fake_link(&root, IN_PROC "task/300/exe", "/bin/wrong");
	fake_link(&root, IN_PROC "task/301/exe", "/bin/thread");
	finds(5 * SECOND, 0, 1, true, "a process whose main thread has exited");
	is_str(found.exe, "/bin/thread", "its program");
	fake_remove(&root, IN_PROC "task/301/exe");
	finds(5 * SECOND, 0, 2, false, "a thread that exits meanwhile");
	fake_remove(&root, IN_PROC "task/301/stat");
	finds(5 * SECOND, 0, 2, false, "no thread that is alive");
	fake_remove(&root, IN_PROC "task/300/stat");
	fake_remove(&root, IN_PROC "task/300/exe");
	names_free(&n);
}

/* A path that is longer than its field is cut. */
static void test_long_path(void)
{
	char path[400];

	begin();
	for (size_t len = sizeof(found.exe) - 1; len <= sizeof(found.exe); len++) {
		memset(path, 'p', sizeof(path));
		path[0] = '/';
		path[len] = 0;
		put_process(path, NULL, NULL);
		finds(5 * SECOND, 0, 1, true, "a long path");
		is_u64(strlen(found.exe), sizeof(found.exe) - 1, "its length");
	}
	names_free(&n);
}

static void test_commands(void)
{
	begin();
	n.commands = true;
	put_process("/bin/a", NULL, "a -x");
	finds(5 * SECOND, 0, 1, true, "a process");
	is_str(found.command, "a -x", "its command line");
	is_str(found.user, "ann", "its user");
	finds(5 * SECOND, PROC_FINAL, 1, true, "a process that has ended");
	is_str(found.command, "", "it has no command line any more");
	is_str(found.user, "ann", "its user");
	put_process(NULL, NULL, "b");
	finds(5 * SECOND, 0, 9, false, "a process of which only the command line is known");
	is_str(found.command, "b", "its command line");
	n.foreign = true;
	finds(5 * SECOND, 0, 1, true, "a process of another namespace");
	is_str(found.user, "", "users there may have other numbers");
	is_str(found.command, "", "its files are not read");
	names_free(&n);
}

/* A program that cannot be read is taken from the last exec, if nothing was executed since. */
static void test_remembered(void)
{
	struct exec_record exec = {.subject = {5 * SECOND, PID, 0}, .execs = 3};

	begin();
	strcpy(exec.path, "/bin/told");
	names_execed(&n, &exec);
	put_process(NULL, "0::/a\n", NULL);
	finds(5 * SECOND, 0, 3, true, "a process whose program cannot be read");
	is_str(found.exe, "/bin/told", "the program of its exec");
	finds(5 * SECOND, 0, 4, true, "a process that has executed another program");
	is_str(found.exe, "", "its program is not known");
	put_process("/bin/read", "0::/a\n", NULL);
	finds(5 * SECOND, 0, 3, true, "a process whose program can be read");
	is_str(found.exe, "/bin/read", "what is read counts");
	put_process(NULL, "0::/a\n", NULL);
	finds(5 * SECOND, 0, 3, true, "a process whose program cannot be read any more");
	is_str(found.exe, "/bin/read", "the program that was read last");
	names_free(&n);
}

int main(void)
{
	root = fakeroot_make();
	test_find();
	test_parts();
	test_threads();
	test_long_path();
	test_commands();
	test_remembered();
	fakeroot_free(&root);
	return tap_done();
}
