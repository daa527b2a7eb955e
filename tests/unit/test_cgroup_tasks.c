// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what is read of limits of tasks, on a machine that this test makes. */
#include "fakeroot.h"

#include <string.h>

#include "collect/cgroup/cgroup_tasks.h"
#include "tap.h"

#define V2_MOUNT "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"

static struct fakeroot root;
static struct cgroup_tasks tasks;

static void put(const char *dir, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/fs/cgroup/%s/%s", dir, file);
	fake_file(&root, path, "%s\n", text);
}

static void put_all(const char *dir, const char *max, const char *current, const char *events)
{
	put(dir, "pids.max", max);
	put(dir, "pids.current", current);
	put(dir, "pids.events", events);
}

static void reads(uint32_t pid, const char *path, double share, uint64_t refused, const char *what)
{
	struct census_tasks got = cgroup_tasks_read(&tasks, pid, path);

	ok(got.share == share && got.refused == refused, "%s: %f, %llu", what, got.share,
	   (unsigned long long)got.refused);
}

int main(void)
{
	root = fakeroot_make();
	fake_file(&root, "proc/self/mountinfo", V2_MOUNT);
	reads(1, "/a/b", 0, 0, "no hierarchy is open");
	tasks.files.root = root.fd;
	tasks.open = cgroup_tree_open(&tasks.files, "pids", &tasks.pids);
	ok(tasks.open, "the hierarchy is found");
	put_all("a", "20", "15", "max 3");
	put_all("a/b", "max", "12", "max 4");
	fake_file(&root, "proc/5/cgroup", "0::/a/b\n");
	reads(5, "/elsewhere", 0.75, 7, "the limit of the cgroup above, failures in both");
	reads(0, "/a/b", 0.75, 7, "by the path");
	reads(6, "/a/b", 0.75, 7, "the process has ended");
	reads(0, "/a", 0.75, 3, "its own limit: failures are counted once");
	put("a/b", "pids.max", "12");
	reads(5, "", 1, 4, "the nearest limit");
	put("a/b", "pids.max", "0");
	reads(5, "", 1, 4, "a limit of 0");
	reads(0, "/none", 0, 0, "a cgroup that is gone");
	put("c", "pids.max", "10");
	put("c", "pids.current", "1");
	reads(0, "/c", 0.1, 0, "before Linux 4.7, there is no pids.events");
	fakeroot_free(&root);
	return tap_done();
}
