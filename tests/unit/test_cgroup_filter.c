// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which cgroup a path selects. setmntent() is replaced by a function that returns the mounts
 * of the test, whose mount points are directories of the test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mntent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/filter.h"
#include "tap.h"

static char mounts[1024];
static bool unreadable;

FILE *setmntent(const char *path, const char *mode)
{
	(void)mode;
	ok(!strcmp(path, "/proc/self/mounts"), "the mounts of this mount namespace");
	return unreadable ? NULL : fmemopen(mounts, strlen(mounts), "r");
}

/* Checks the cgroup of a path below the directory of the test; `want` NULL: there is no cgroup. */
static void selects(const char *dir, const char *path, const char *want)
{
	struct filter f = {};
	char whole[256], error[256] = "";
	int err;

	snprintf(whole, sizeof(whole), "%s%s", dir, path);
	err = filter_cgroup(&f, whole, error, sizeof(error));
	if (want) {
		ok(!err && !strcmp(f.cgroup, want), "%s selects \"%s\", want \"%s\"", whole,
		   f.cgroup, want);
		return;
	}
	ok(err == -ENOENT && !f.cgroup[0], "%s is refused", whole);
	ok(strstr(error, whole) && strstr(error, "no such cgroup"), "the message: %s", error);
}

int main(void)
{
	static const char *const made[] = {"/unified",	       "/unified/a.slice", "/unified/inner",
					   "/unified/inner/b", "/unified2",	   "/tmpfs"};
	char dir[] = "/tmp/faultscope-filter-XXXXXX", path[128];

	if (!mkdtemp(dir))
		return 1;
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, made[i]);
		mkdir(path, 0700);
	}
	snprintf(mounts, sizeof(mounts),
		 "tmpfs %s/tmpfs tmpfs rw 0 0\n"
		 "cgroup %s/unified/inner cgroup rw,memory 0 0\n"
		 "cgroup2 %s/unified cgroup2 rw 0 0\n",
		 dir, dir, dir);
	selects(dir, "/unified", "/");
	selects(dir, "/unified/", "/");
	selects(dir, "/unified/a.slice", "/a.slice");
	selects(dir, "/unified/a.slice//", "/a.slice");
	selects(dir, "/unified/inner", "/");
	selects(dir, "/unified/inner/b", "/b");
	selects(dir, "/unified/none", NULL);
	selects("", "a.slice", NULL);
	selects("", "", NULL);
	/* paths that are in no mounted hierarchy are those of /proc/PID/cgroup */
	selects("", "/system.slice/ssh.service", "/system.slice/ssh.service");
	selects("", "/", "/");
	snprintf(path, sizeof(path), "%s/unified2", dir);
	selects(dir, "/unified2", path);
	snprintf(path, sizeof(path), "%s/tmpfs", dir);
	selects(dir, "/tmpfs", path);
	unreadable = true;
	selects("", "/system.slice", "/system.slice");
	for (size_t i = sizeof(made) / sizeof(made[0]); i--;) {
		snprintf(path, sizeof(path), "%s%s", dir, made[i]);
		rmdir(path);
	}
	rmdir(dir);
	return tap_done();
}
