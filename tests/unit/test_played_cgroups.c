// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the hierarchies of cgroups are opened at the start, on a machine that this test makes:
 * "/" is a directory of the test. Also tests descriptors: none is left open.
 */
#include "fakeroot.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "collect/cgroup/cgroup_find.h"
#include "collect/cgroup/cgroup_levels.h"
#include "collect/cgroup/cgroup_tasks.h"
#include "collect/cgroup/cgroup_v2.h"
#include "tap.h"

#define V2     "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define V1(of) "32 23 0:29 / /sys/fs/cgroup/" of " rw,nosuid - cgroup cgroup rw," of "\n"

static struct fakeroot root;
static bool no_root; /* "/" cannot be opened */

int open(const char *path, int flags, ...)
{
	if (strcmp(path, "/"))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
	if (!no_root)
		return (int)syscall(SYS_openat, root.fd, ".", flags, 0);
	errno = EACCES;
	return -1;
}

/* Returns the lowest free descriptor, which tells whether others were closed. */
static int lowest(void)
{
	int fd = dup(root.fd);

	close(fd);
	return fd;
}

static const struct {
	const char *mountinfo; /* NULL: /proc is not mounted */
	bool memory, pids;
	const char *name;
} rows[] = {
	{V2, true, true, "version 2 has all controllers"},
	{V1("memory") V1("pids"), true, true, "two hierarchies of version 1"},
	{V1("memory"), true, false, "memory alone"},
	{V1("pids"), false, true, "pids alone"},
	{V1("cpu"), false, false, "neither"},
	{"", false, false, "no hierarchy"},
	{NULL, false, false, "no /proc"},
};

static void mount_them(size_t i)
{
	if (rows[i].mountinfo)
		fake_file(&root, "proc/self/mountinfo", "%s", rows[i].mountinfo);
	else
		fake_remove(&root, "proc/self/mountinfo");
}

static void test_levels(void)
{
	int before = lowest();
	struct cgroup_levels l;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool any = rows[i].memory || rows[i].pids;

		mount_them(i);
		memset(&l, 0xff, sizeof(l));
		ok(cgroup_levels_open(&l) == any, "limits: %s", rows[i].name);
		if (any) {
			ok(l.has_memory == rows[i].memory && l.has_pids == rows[i].pids,
			   "the controllers");
			ok(l.memory.firm && !l.pids.firm,
			   "memory that can be reclaimed does not count as used");
			cgroup_levels_close(&l);
		}
		is_u64(lowest(), before, "no descriptor is left open");
	}
	no_root = true;
	ok(!cgroup_levels_open(&l), "/ cannot be opened");
	no_root = false;
}

static void test_tasks(void)
{
	int before = lowest();
	struct cgroup_tasks t;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mount_them(i);
		memset(&t, 0xff, sizeof(t));
		cgroup_tasks_open(&t);
		ok(t.open == rows[i].pids, "tasks: %s", rows[i].name);
		is_u64(lowest() - before, rows[i].pids, "descriptors that are open");
		cgroup_tasks_close(&t);
		cgroup_tasks_close(&t);
		ok(!t.open && lowest() == before, "closed");
	}
	no_root = true;
	cgroup_tasks_open(&t);
	ok(!t.open, "/ cannot be opened");
	cgroup_tasks_close(&t);
	is_u64(lowest(), before, "nothing is closed that was not open");
	no_root = false;
}

/* Paths of a cgroup of version 2 are compared by the number of their directory. */
static void test_match(void)
{
	char path[512], longest[600];
	struct cgroup_v2 v;
	struct stat st;

	mount_them(0);
	fake_file(&root, "sys/fs/cgroup/a/cgroup.procs", "\n");
	stat(fake_path(&root, "sys/fs/cgroup/a", path, sizeof(path)), &st);
	cgroup_v2_open(&v, root.fd);
	is_u64(cgroup_v2_match(&v, "/a", st.st_ino), CGROUP_SAME, "a cgroup");
	is_u64(cgroup_v2_match(&v, "/a", 1), CGROUP_OTHER, "another one of this name");
	is_u64(cgroup_v2_match(&v, "/none", st.st_ino), CGROUP_UNKNOWN, "a cgroup that is gone");
	is_u64(cgroup_v2_match(&v, "/../cgroup/a", st.st_ino), CGROUP_UNKNOWN,
	       "a path outside of the cgroup namespace");
	is_u64(cgroup_v2_match(&v, "/..", st.st_ino), CGROUP_UNKNOWN, "the cgroup above it");
	v.mount.point[0] = 0;
	is_u64(cgroup_v2_match(&v, "/a", st.st_ino), CGROUP_UNKNOWN, "no mount of version 2");
	cgroup_v2_open(&v, root.fd);
	stat(fake_path(&root, "sys/fs/cgroup", path, sizeof(path)), &st);
	is_u64(cgroup_v2_match(&v, "", st.st_ino), CGROUP_SAME, "the root");
	is_u64(cgroup_v2_match(&v, "/.", st.st_ino), CGROUP_SAME, "its other name");
	memset(longest, '/', sizeof(longest));
	longest[599] = 0;
	ok(cgroup_v2_match(&v, longest, st.st_ino) != CGROUP_OTHER, "a path that is too long");
	fake_file(&root, "proc/self/mountinfo", "%s%s%s",
		  "30 23 0:27 /part /sys/fs/part rw - cgroup2 cgroup2 rw\n", V1("memory"), V2);
	cgroup_v2_open(&v, root.fd);
	is_str(v.mount.point, "/sys/fs/cgroup", "the mount of the whole hierarchy, of version 2");
	ok(!v.mount.v1, "its version");
}

/* Of names that begin equally like the one that is wanted, the first three by name are proposed. */
static void test_near(void)
{
	static const char *const names[] = {"web-1", "web-2", "web-3", "web-4", "wet", "a", ".web"};
	static const struct {
		const char *path, *above, *want;
	} finds[] = {
		{"/s/web-9", "/s", "web-1 web-2 web-3 "},
		{"/s/web-4x", "/s", "web-4 web-1 web-2 "},
		{"/s/wet", "/", ""},
		{"/s/wetter", "/s", "wet web-1 web-2 "},
		{"/s/q", "/s", "a web-1 web-2 "},
		{"/t/web-1", "/", "s "},
	};
	struct files f = {.root = root.fd};
	char path[128];

	fake_file(&root, "proc/self/mountinfo",
		  "31 23 0:28 / /near rw - cgroup2 cgroup2 rw\n"
		  "32 23 0:28 / /near rw - cgroup cgroup rw,memory\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "near/s/%s/cgroup.procs", names[i]);
		fake_file(&root, path, "\n");
	}
	fake_file(&root, "near/s/web-0", "a file, as cgroups have many");
	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		struct cgroup_near near;
		char got[1024] = "";

		cgroup_find(&f, finds[i].path, &near);
		for (size_t k = 0; k < near.names; k++) {
			strcat(got, near.name[k]);
			strcat(got, " ");
		}
		is_str(got, finds[i].want, finds[i].path);
		is_str(near.above, finds[i].above, "the cgroup above");
		ok(near.exists == !finds[i].want[0], "whether it exists");
	}
}

int main(void)
{
	root = fakeroot_make();
	test_levels();
	test_tasks();
	test_match();
	test_near();
	fakeroot_free(&root);
	return tap_done();
}
