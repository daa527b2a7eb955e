// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests functions that search directories if a directory cannot be opened or read to its end. No
 * descriptor may be left open. fdopendir() and readdir() are replaced.
 */
#define _GNU_SOURCE
#include "fakeroot.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>

#include "collect/cgroup/cgroup_find.h"
#include "collect/cgroup/cgroup_walk.h"
#include "collect/names/container_pids.h"
#include "collect/names/pod_names.h"
#include "open_files.h"
#include "tap.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct fakeroot root;
static int fdopendir_error, readdir_error; /* errno; 0: the call succeeds */
static int entries_left;		   /* entries that are read before readdir_error */
static const char *refused;		   /* a directory that cannot be opened; NULL: none */

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

	if (readdir_error && !entries_left--) {
		errno = readdir_error;
		return NULL;
	}
	if (!real)
		real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	return real(d);
}

int openat(int dir, const char *path, int flags, ...)
{
	if (refused && !strcmp(path, refused)) {
		errno = EACCES;
		return -1;
	}
	return syscall(SYS_openat, dir, path, flags, 0600);
}

/* The errors that each function meets in turn. */
static const struct {
	int fdopendir_error, readdir_error;
	const char *name;
} errors[] = {
	{0, 0, "no error"},
	{ENOMEM, 0, "a directory without memory"},
	{0, EIO, "a directory that cannot be read"},
};

static void set_error(size_t i)
{
	fdopendir_error = errors[i].fdopendir_error;
	readdir_error = errors[i].readdir_error;
	entries_left = 0;
}

static void test_container_pids(void)
{
	int proc = openat(root.fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	static const int want[] = {1, -ENOMEM, -EIO};
	size_t before;
	uint32_t pid;

	fake_process(&root, 10, 1, "a", 0, "0::/docker/" ID "\n");
	before = open_fds();
	for (size_t i = 0; i < 3; i++) {
		set_error(i);
		ok(container_pids_find(proc, ID, &pid, 1) == want[i], "pids of a container: %s",
		   errors[i].name);
		is_u64(open_fds(), before, "all directories are closed");
	}
	set_error(0);
	refused = ".";
	ok(container_pids_find(proc, ID, &pid, 1) == -EACCES, "a directory that is refused");
	refused = NULL;
	ok(container_pids_find(-1, ID, &pid, 1) == -EBADF, "no directory");
	is_u64(open_fds(), before, "all directories are closed");
	close(proc);
}

static void test_pod_names(void)
{
	struct pod_names names;
	size_t before = open_fds();

	fake_file(&root, "var/log/containers/web_shop_app-" ID ".log", "%s", "");
	for (size_t i = 0; i < 3; i++) {
		set_error(i);
		pod_names_find(root.fd, "", ID, &names);
		is_str(names.container, i ? "" : "app", errors[i].name);
		is_u64(open_fds(), before, "all directories are closed");
	}
	set_error(0);
}

static void test_cgroup_find(void)
{
	struct files files = {.root = root.fd};
	struct cgroup_near near;
	size_t before = open_fds();

	fake_file(&root, "proc/self/mountinfo",
		  "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	fake_file(&root, "sys/fs/cgroup/a/b/cgroup.procs", "\n");
	for (size_t i = 0; i < 3; i++) {
		set_error(i);
		cgroup_find(&files, "/a/c", &near);
		ok(!near.exists, "a cgroup that does not exist: %s", errors[i].name);
		is_str(near.above, i == 1 ? "/" : "/a", "the cgroup above it");
		is_u64(near.names, i == 0, "its children");
		cgroup_find(&files, "/a/b", &near);
		is_u64(near.exists, i != 1, "a cgroup that exists");
		is_u64(open_fds(), before, "all directories are closed");
	}
	set_error(0);
}

static char visited[256];

static void visit(void *ctx, int dir, const char *path)
{
	(void)ctx;
	if (fcntl(dir, F_GETFD) < 0)
		abort();
	strcat(visited, path);
	strcat(visited, " ");
}

static void test_cgroup_walk(void)
{
	static const struct {
		const char *refused;
		unsigned int dirs_most, depth_most;
		int entries; /* entries that can be read; -1: all */
		bool opens;
		const char *want;
		uint64_t over;
		const char *name;
	} rows[] = {
		{NULL, 9, 9, -1, true, "/ /a /a/b ", 0, "all cgroups"},
		{NULL, 9, 9, -1, false, "", 0, "a directory without memory"},
		{"b", 9, 9, -1, true, "/ /a ", 0, "a cgroup that is removed meanwhile"},
		{"a", 9, 9, -1, true, "/ ", 0, "a cgroup with children that is removed"},
		{NULL, 9, 1, -1, true, "/ /a ", 1, "a depth of one level"},
		{NULL, 9, 2, -1, true, "/ /a /a/b ", 0, "a depth of two levels"},
		{NULL, 9, 0, -1, true, "/ ", 1, "no depth"},
		{NULL, 1, 9, -1, true, "/ /a ", 1, "one directory at most"},
		{NULL, 2, 9, -1, true, "/ /a /a/b ", 0, "two directories at most"},
		{NULL, 9, 9, 0, true, "/ ", 1, "a directory that cannot be read"},
	};
	size_t before = open_fds();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgroup_walk w = {.take = visit,
					.dirs_most = rows[i].dirs_most,
					.depth_most = rows[i].depth_most};
		int dir = openat(root.fd, "sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		visited[0] = 0;
		refused = rows[i].refused;
		fdopendir_error = rows[i].opens ? 0 : ENOMEM;
		readdir_error = rows[i].entries < 0 ? 0 : EIO;
		entries_left = rows[i].entries;
		cgroup_walk(&w, dir);
		set_error(0);
		is_str(visited, rows[i].want, rows[i].name);
		is_u64(w.over, rows[i].over, "cgroups that were left out");
		is_u64(open_fds(), before, "all directories are closed");
	}
	refused = NULL;
}

int main(void)
{
	root = fakeroot_make();
	test_container_pids();
	test_pod_names();
	test_cgroup_find();
	test_cgroup_walk();
	fakeroot_free(&root);
	return tap_done();
}
