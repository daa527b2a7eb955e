/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of limits of namespaces, and of what one namespace may contain: mounts and pids. */
#include "zoo.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define DEEPEST 32 /* levels of user namespaces below which one more is possible */

static const char *limit_path;

/* Enters a user namespace in which the user may have `most` namespaces of one type. */
static void bound(const char *path, long most)
{
	enter_user_namespace();
	limit_path = path;
	write_number(path, most);
}

static void raise_bound(void)
{
	write_number(limit_path, 100);
}

#define MAX(type) "/proc/sys/user/max_" type "_namespaces"

static void another(int type, const char *path)
{
	bound(path, 1);
	if (unshare(type))
		skip("unshare: %s", strerror(errno));
	ASK(unshare, type);
}

static void another_uts(void)
{
	another(CLONE_NEWUTS, MAX("uts"));
}

static void another_ipc(void)
{
	another(CLONE_NEWIPC, MAX("ipc"));
}

static void another_net(void)
{
	another(CLONE_NEWNET, MAX("net"));
}

static void another_mnt(void)
{
	another(CLONE_NEWNS, MAX("mnt"));
}

static void first_user(void)
{
	bound(MAX("user"), 0);
	ASK(unshare, CLONE_NEWUSER);
}

static void first_pid(void)
{
	bound(MAX("pid"), 0);
	ASK(unshare, CLONE_NEWPID);
}

static void first_cgroup(void)
{
	bound(MAX("cgroup"), 0);
	ASK(unshare, CLONE_NEWCGROUP);
}

static void first_time(void)
{
	bound(MAX("time"), 0);
	ASK(unshare, CLONE_NEWTIME);
}

/* The limit of the namespace above is reached, not that of the namespace of the process. */
static void limit_above(void)
{
	bound(MAX("uts"), 0);
	enter_user_namespace();
	ASK(unshare, CLONE_NEWUTS);
}

static void allow_above(void)
{
	/* the file shows the limit of the process's own namespace: ask for another type */
	ask.arg[0] = CLONE_NEWIPC;
}

/*
 * Both types are at their limits. The kernel checks the mount namespace first. Before Linux 5.14,
 * the counts are not known, so that it may be one of the types.
 */
static void two_types(void)
{
	bound(MAX("net"), 0);
	write_number(MAX("mnt"), 0);
	ASK(unshare, CLONE_NEWNET | CLONE_NEWNS);
}

static void raise_both(void)
{
	write_number(MAX("net"), 100);
	write_number(MAX("mnt"), 100);
}

/* The type that the kernel checks first has room, the second one has none. */
static void second_type(void)
{
	bound(MAX("net"), 0);
	ASK(unshare, CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS);
}

static void child_with_net(void)
{
	bound(MAX("net"), 0);
	ASK(clone, CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0);
}

static void child_with_pid(void)
{
	static struct clone_args args = { .flags = CLONE_NEWPID, .exit_signal = SIGCHLD };

	bound(MAX("pid"), 0);
	ASK(clone3, P(&args), sizeof(args));
}

static long make_child(void)
{
	long child = make_asked();

	if (!child)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

static void nest(void)
{
	for (int i = 0; i < DEEPEST; i++)
		enter_user_namespace();
	ASK(unshare, CLONE_NEWUSER);
}

static void map_deepest(void)
{
	if (!write_text("/proc/self/uid_map", "0 0 1"))
		die("uid_map");
}

/* Mounts of a mount namespace: each bind mount of a tree with submounts doubles their number. */

static char place[] = "/tmp/zoo-mounts-XXXXXX";
static char last_mount[64], next_mount[64];

static void remove_place(void)
{
	umount2(place, MNT_DETACH); /* a mount point cannot be removed */
	rmdir(place);
}

static long count_mounts(void)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	long n = 0;

	if (!f)
		die("mountinfo");
	for (int c; (c = getc(f)) != EOF;)
		n += c == '\n';
	fclose(f);
	return n;
}

static const char *place_of(const char *kind, int i, char *ret)
{
	snprintf(ret, 64, "%s/%s%d", place, kind, i);
	return ret;
}

static void make_place(const char *kind, int i)
{
	char path[64];

	if (mkdir(place_of(kind, i, path), 0700))
		die("mkdir %s", path);
}

/* Returns false if the mounts do not fit. (mountinfo does not show each mount of the namespace.) */
static bool bind_all(const char *from, const char *to)
{
	if (!mount(from, to, NULL, MS_BIND | MS_REC, NULL))
		return true;
	if (errno != ENOSPC)
		die("mount --rbind %s %s", from, to);
	return false;
}

static void fills_mounts(void)
{
	long most = read_number("/proc/sys/fs/mount-max"), size = 1, left;
	static char tree[64];
	char from[64], to[64];
	int last = 0;

	enter_mount_namespace();
	if (!mkdtemp(place))
		die("mkdtemp");
	at_end(remove_place);
	if (mount("none", place, "tmpfs", 0, NULL))
		skip("tmpfs: %s", strerror(errno));
	snprintf(tree, sizeof(tree), "%s/tree", place);
	if (mkdir(tree, 0700) || mount("none", tree, "tmpfs", 0, NULL))
		die("%s", tree);
	for (int i = 0; i < 32; i++) {
		make_place("tree/", i);
		make_place("rest", i);
	}
	make_place("next", 0);
	left = most - count_mounts();
	for (; size * 2 <= left + size; size *= 2, left = most - count_mounts())
		if (!bind_all(tree, place_of("tree/", last++, to)))
			die("mount --rbind %s", to);
	/* the copy at tree/i has 2^i mounts */
	for (int i = last - 1; i >= 0; i--) {
		if (left < 1L << i ||
		    !bind_all(place_of("tree/", i, from), place_of("rest", i, to)))
			continue;
		strcpy(last_mount, to);
		left -= 1L << i;
	}
	ASK(mount, P(tree), P(place_of("next", 0, next_mount)), 0, MS_BIND, 0);
}

static void unmount_last(void)
{
	if (umount2(last_mount, MNT_DETACH))
		die("umount %s", last_mount);
}

/* pids of a pid namespace, which has a limit of its own since Linux 6.14 */

#define FEW_PIDS 310

static pid_t last_child;

static void limit_pids(void)
{
	write_number("/proc/sys/kernel/pid_max", FEW_PIDS);
}

static void fills_pids(void)
{
	long most = read_number("/proc/sys/kernel/pid_max");

	if (unshare(CLONE_NEWPID))
		skip("no pid namespaces: %s", strerror(errno));
	start_sleeper(limit_pids); /* the kernel ends the namespace when its first process ends */
	if (read_number("/proc/sys/kernel/pid_max") != most) {
		write_number("/proc/sys/kernel/pid_max", most);
		skip("pid namespaces have no limit of their own");
	}
	for (int i = 2; i < FEW_PIDS; i++)
		last_child = start_sleeper(NULL);
	ASK(clone, SIGCHLD, 0, 0, 0, 0);
}

static void end_child(void)
{
	kill(last_child, SIGKILL);
	waitpid(last_child, NULL, 0);
}

#define FULL(cause, prepare, lift) { "unshare", ENOSPC, cause }, prepare, NULL, lift

const struct zoo_case namespace_cases[] = {
	{ "ns-user", FULL("max_user_namespaces", first_user, raise_bound) },
	{ "ns-pid", FULL("max_pid_namespaces", first_pid, raise_bound) },
	{ "ns-uts", FULL("max_uts_namespaces", another_uts, raise_bound) },
	{ "ns-ipc", FULL("max_ipc_namespaces", another_ipc, raise_bound) },
	{ "ns-net", FULL("max_net_namespaces", another_net, raise_bound) },
	{ "ns-mnt", FULL("max_mnt_namespaces", another_mnt, raise_bound) },
	{ "ns-cgroup", FULL("max_cgroup_namespaces", first_cgroup, raise_bound) },
	{ "ns-time", FULL("max_time_namespaces", first_time, raise_bound) },
	{ "ns-limit-above", FULL("max_uts_namespaces", limit_above, allow_above) },
	{ "ns-two-types", FULL("max_mnt_namespaces|max_namespaces", two_types, raise_both) },
	{ "ns-second-type", FULL("max_net_namespaces|max_namespaces", second_type, raise_bound) },
	{ "ns-clone", { "clone", ENOSPC, "max_net_namespaces" }, child_with_net, make_child,
	  raise_bound },
	{ "ns-clone3", { "clone3", ENOSPC, "max_pid_namespaces" }, child_with_pid, make_child,
	  raise_bound },
	{ "ns-depth", { "unshare", ENOSPC, "namespace_depth" }, nest, .impose = map_deepest },
	{ "mount-max", { "mount", ENOSPC, "mount_max" }, fills_mounts, NULL, unmount_last },
	{ "ns-pid-max", { "clone", EAGAIN, "pid_max" }, fills_pids, make_child, end_child },
	{ 0 },
};
