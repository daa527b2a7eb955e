// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which cgroups exist, and which are proposed, on a machine that this test makes. */
#include "fakeroot.h"

#include <string.h>

#include "collect/cgroup/cgroup_find.h"
#include "tap.h"

static struct fakeroot root;
static struct files files;

static void make(const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/fs/cgroup/%s/cgroup.procs", dir);
	fake_file(&root, path, "\n");
}

/* Looks for a cgroup. `names` are those that are proposed, each with a blank behind. */
static void finds(const char *path, bool exists, const char *above, const char *names)
{
	struct cgroup_near near;
	char got[1024] = "";

	cgroup_find(&files, path, &near);
	for (size_t i = 0; i < near.names; i++) {
		strcat(got, near.name[i]);
		strcat(got, " ");
	}
	ok(near.exists == exists, "%s: %s", path, exists ? "exists" : "does not exist");
	is_str(near.above, above, path);
	is_str(got, names, path);
}

static void test_two_hierarchies(void)
{
	fake_file(&root, "proc/self/mountinfo",
		  "30 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
		  "31 30 0:29 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n"
		  "32 30 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	make("unified/system.slice/ssh.service");
	make("unified/system.slice/cron.service");
	make("unified/system.slice/dbus.service");
	make("unified/system.slice/atd.service");
	make("memory/docker/0123");
	make("memory/system.slice/ssh.service");
	finds("/system.slice/ssh.service", true, "/", "");
	finds("/docker/0123", true, "/", "");
	finds("/", true, "/", "");
	finds("/system.slice/sshd.service", false, "/system.slice",
	      "ssh.service atd.service cron.service ");
	finds("/docker/0999/deep", false, "/docker", "0123 ");
	finds("/none/at/all", false, "/", "docker system.slice ");
	finds("/docker/0123/x", false, "/docker/0123", "");
}

/* In a container without a cgroup namespace, the mounts show only a part of a hierarchy. */
static void test_part_of_a_hierarchy(void)
{
	fake_file(&root, "proc/self/mountinfo",
		  "31 30 0:29 /docker/me /sys/fs/cgroup/part rw - cgroup2 cgroup2 rw\n");
	make("part/inner");
	finds("/docker/me/inner", true, "/", "");
	finds("/docker/me", true, "/", "");
	finds("/docker/me/other", false, "/docker/me", "inner ");
	finds("/inner/x", false, "/", "");
}

int main(void)
{
	root = fakeroot_make();
	files.root = root.fd;
	finds("/a", false, "/", "");
	test_two_hierarchies();
	test_part_of_a_hierarchy();
	fakeroot_free(&root);
	return tap_done();
}
