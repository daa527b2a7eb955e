// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which processes are selected by container, and the bounds of the other filters. open() is
 * replaced: /proc and the list of mounts are those of the test.
 */
#include "fakeroot.h"

#include <errno.h>
#include <mntent.h>
#include <sys/syscall.h>

#include "collect/filter.h"
#include "records/records.h"
#include "tap.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char proc[96];	   /* the directory that is opened as /proc */
static const char *mounts; /* text of /proc/self/mounts; NULL: it cannot be opened */
static const char *cgroup; /* the only cgroup that exists; NULL: none */

static int open_lists; /* number of lists of mounts that are open */

FILE *setmntent(const char *path, const char *mode)
{
	if (!mounts || strcmp(path, "/proc/self/mounts") != 0)
		return NULL;
	open_lists++;
	return fmemopen((void *)mounts, strlen(mounts), "r");
}

int endmntent(FILE *f)
{
	open_lists--;
	fclose(f);
	return 1;
}

int access(const char *path, int mode)
{
	errno = ENOENT;
	return cgroup && !strcmp(path, cgroup) ? 0 : -1;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return syscall(SYS_openat, AT_FDCWD, strcmp(path, "/proc") ? path : proc, flags, mode);
}

/*
 * Returns the result for a container, as a positive number. Standard input is closed, so that /proc
 * has the descriptor 0, which is as good as any other.
 */
static int selects(struct filter *f, const char *id, char *error, size_t size)
{
	int err;

	memset(f, 0, sizeof(*f));
	memset(error, 0, size);
	err = -filter_container(f, id, error, size);
	if (!ok(fcntl(STDIN_FILENO, F_GETFD) == -1, "/proc is closed again"))
		close(STDIN_FILENO);
	return err;
}

static void test_container(const struct fakeroot *r)
{
	struct filter f;
	char error[512];

	fake_process(r, 10, 1, "a", 0, "0::/docker/" ID "\n");
	fake_process(r, 11, 1, "b", 0, "0::/user.slice\n");
	is_u64(selects(&f, "0123456789ab", error, sizeof(error)), 0, "a container of one process");
	ok(f.pids == 1 && f.pid[0] == 10, "this process is selected");
	is_str(error, "", "there is no message");
	ok(filter_shows(&f, 10, 0, "a", NULL) && !filter_shows(&f, 11, 0, "b", NULL),
	   "and only this one is shown");
	is_u64(selects(&f, "ffffffffffff", error, sizeof(error)), ENOENT, "an unknown container");
	ok(strstr(error, "--container ffffffffffff: no process of this container is in /proc") &&
		   strstr(error, "hostPID"),
	   "the message says what may be missing: %s", error);
	ok(!f.pids, "nothing is selected");
	is_u64(selects(&f, "web", error, sizeof(error)), EINVAL, "a name is no ID");
	ok(strstr(error, "--container web: expected the ID of a container"),
	   "the message says what is expected: %s", error);
}

static void test_most(const struct fakeroot *r)
{
	static struct filter f;
	char error[512], path[64];

	for (int i = 1; i < FILTER_PIDS_MAX; i++) {
		snprintf(path, sizeof(path), "proc/%d/cgroup", 1000 + i);
		fake_file(r, path, "0::/docker/" ID "\n");
	}
	is_u64(selects(&f, ID, error, sizeof(error)), 0, "as many processes as there is room for");
	is_u64(f.pids, FILTER_PIDS_MAX, "all are selected");
	ok(filter_shows(&f, f.pid[0], 0, "a", NULL) &&
		   filter_shows(&f, f.pid[FILTER_PIDS_MAX - 1], 0, "a", NULL),
	   "the first and the last of them are shown");
	fake_process(r, 2000, 1, "a", 0, "0::/docker/" ID "\n");
	is_u64(selects(&f, ID, error, sizeof(error)), E2BIG, "one more");
	ok(strstr(error, "more than 256 processes: use --cgroup"), "the message: %s", error);
	ok(!f.pids, "none is selected");
}

static void test_no_proc(void)
{
	struct filter f;
	char error[512];

	strcat(proc, "/none");
	is_u64(selects(&f, ID, error, sizeof(error)), ENOENT, "/proc is not there");
	ok(strstr(error, "--container " ID ": cannot list /proc: No such file or directory"),
	   "the message: %s", error);
}

static void test_pattern(void)
{
	struct filter f = {};
	char error[512] = "";

	is_u64(-filter_comm(&f, "a(b", error, sizeof(error)), EINVAL, "an invalid expression");
	ok(!f.has_comm && !f.pattern, "selects nothing");
	ok(strstr(error, "--comm 'a(b': ") && strstr(error, "extended regular expression"),
	   "the message: %s", error);
	is_u64(-filter_comm(&f, "^ab$", error, sizeof(error)), 0, "a valid one");
	is_str(f.pattern, "^ab$", "its text is kept, for a view that shows it");
	f.pid[0] = 10;
	f.pid[1] = 11; /* behind the last one */
	f.pids = 1;
	ok(!filter_shows(&f, 11, 0, "ab", NULL), "a process that is not in the list");
	f.children = true;
	ok(!filter_shows(&f, 11, PROC_WATCHED, "sh", NULL), "a child has to match, too");
	ok(filter_shows(&f, 11, PROC_WATCHED, "ab", NULL), "one that matches is shown");
	filter_free(&f);
	ok(!f.has_comm, "freed, it selects no more");
	filter_free(&f);
	ok(filter_shows(&f, 10, 0, "sh", NULL), "all names are shown");
}

/* A path longer than the room for it selects what is left of it, and never more than fits. */
static void test_long_cgroup(void)
{
	struct filter f = {};
	char path[300], error[64];

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = 0;
	is_u64(-filter_cgroup(&f, path, error, sizeof(error)), 0, "a long path");
	is_u64(strlen(f.cgroup), sizeof(f.cgroup) - 1, "is cut");
	is_u64(-filter_cgroup(&f, "///", error, sizeof(error)), 0, "only slashes");
	is_str(f.cgroup, "/", "are the root");
	ok(filter_shows(&f, 1, 0, "a", "/b"), "the root shows all processes with a cgroup");
	ok(!filter_shows(&f, 1, 0, "a", NULL), "but none whose cgroup is not known");
}

#define MOUNTS                                                                                     \
	"proc /proc proc rw 0 0\n"                                                                 \
	"tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"                                                      \
	"cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"                                      \
	"cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"                                          \
	"cgroup2 /mnt cgroup2 rw 0 0\n"                                                            \
	"cgroup2 /mnt/inner cgroup2 rw 0 0\n"

/* A path of a directory of cgroupfs is taken as the path of its cgroup, if it exists. */
static void test_mounted_cgroups(void)
{
	static const struct {
		const char *mounts, *path, *exists;
		const char *want; /* the cgroup; NULL: an error */
		const char *name;
	} rows[] = {
		{MOUNTS, "/sys/fs/cgroup/unified/a/b", "/sys/fs/cgroup/unified/a/b", "/a/b",
		 "a directory of version 2"},
		{MOUNTS, "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory/a", "/a",
		 "a directory of version 1"},
		{MOUNTS, "/sys/fs/cgroup/unified/a/", "/sys/fs/cgroup/unified/a/", "/a",
		 "a slash at the end"},
		{MOUNTS, "/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified", "/", "the root"},
		{MOUNTS, "/sys/fs/cgroup/unified/a", NULL, NULL, "no such directory"},
		{MOUNTS, "/sys/fs/cgroup/unified2/a", NULL, "/sys/fs/cgroup/unified2/a",
		 "a path that begins alike"},
		{MOUNTS, "/sys/fs/cgroup/a", NULL, "/sys/fs/cgroup/a", "a mount of another type"},
		{MOUNTS, "/mnt/inner/a", "/mnt/inner/a", "/a", "the innermost mount"},
		{MOUNTS, "/mnt/a", "/mnt/a", "/a", "the mount around it"},
		{MOUNTS, "/a/b", NULL, "/a/b", "a path of a cgroup"},
		{"cgroup2 /mnt/inner cgroup2 rw 0 0\ncgroup2 /mnt cgroup2 rw 0 0\n", "/mnt/inner/a",
		 "/mnt/inner/a", "/a", "the innermost mount, listed first"},
		{"", "/sys/fs/cgroup/unified/a", NULL, "/sys/fs/cgroup/unified/a", "no mounts"},
		{NULL, "/sys/fs/cgroup/unified/a", NULL, "/sys/fs/cgroup/unified/a",
		 "an unknown list of mounts"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct filter f = {};
		char error[256] = "";
		int want = rows[i].want ? 0 : ENOENT;

		mounts = rows[i].mounts;
		cgroup = rows[i].exists;
		is_u64(-filter_cgroup(&f, rows[i].path, error, sizeof(error)), want, rows[i].name);
		is_str(f.cgroup, rows[i].want ?: "", "the cgroup");
		is_u64(open_lists, 0, "the list of mounts is closed");
		is_str(error,
		       want ? "--cgroup /sys/fs/cgroup/unified/a: no such cgroup\n  give a path "
			      "below /sys/fs/cgroup, or as in /proc/PID/cgroup: "
			      "/system.slice/ssh.service"
			    : "",
		       "the message");
	}
	mounts = cgroup = NULL;
}

int main(void)
{
	struct fakeroot r = fakeroot_make();
	int high = fcntl(r.fd, F_DUPFD_CLOEXEC, 30);

	close(r.fd);
	r.fd = high;
	snprintf(proc, sizeof(proc), "%s/proc", r.path);
	test_container(&r);
	test_most(&r);
	test_no_proc();
	test_pattern();
	test_long_cgroup();
	test_mounted_cgroups();
	fakeroot_free(&r);
	return tap_done();
}
