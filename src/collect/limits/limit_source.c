// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/limits/limit_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/limits/origin_cgroup.h"
#include "collect/limits/origin_rlimit.h"
#include "collect/limits/origin_sysctl.h"

/* Inode number of the initial pid namespace, equal in every kernel (include/linux/proc_ns.h). */
#define INITIAL_PIDS "pid:[4026531836]"

const char *const origin_places[] = {
	"/etc/sysctl.conf",	  "/etc/sysctl.d",    "/run/sysctl.d", "/usr/local/lib/sysctl.d",
	"/usr/lib/sysctl.d",	  "/lib/sysctl.d",    "/etc/systemd",  "/run/systemd",
	"/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd",  "/etc/security/limits.conf",
	"/etc/security/limits.d", "/etc/passwd",      "/etc/group",    NULL,
};

static bool read_link(int root, const char *path, char *ret, size_t size)
{
	ssize_t n = readlinkat(root, path, ret, size - 1);

	ret[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Returns whether the root directory has files that container runtimes create. */
static bool has_marks(struct files *f)
{
	static const char *const marks[] = {"/.dockerenv", "/run/.containerenv",
					    "/run/systemd/container",
					    "/var/run/secrets/kubernetes.io"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (file_exists(f, marks[i]))
			return true;
	return false;
}

static bool has_initial_pids(const struct files *f)
{
	char pids[64];

	return read_link(f->root, "proc/self/ns/pid", pids, sizeof(pids)) &&
	       !strcmp(pids, INITIAL_PIDS);
}

/*
 * Returns whether the files below a root differ from the host's. In the initial pid namespace, the
 * root of pid 1 is the host's root. If pid 1's root may not be read, has_marks() decides.
 */
static bool is_outside(struct files *f)
{
	struct stat ours, first;

	if (file_exists(f, "/proc/self/ns") && !has_initial_pids(f))
		return true;
	if (!has_initial_pids(f) || fstat(f->root, &ours) ||
	    fstatat(f->root, "proc/1/root", &first, 0))
		return has_marks(f);
	return ours.st_dev != first.st_dev || ours.st_ino != first.st_ino;
}

int origin_root(void)
{
	int own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), first;
	struct files f = {.root = own};

	if (own < 0)
		return -errno;
	first = is_outside(&f) && has_initial_pids(&f)
			? open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC)
			: -1;
	if (first < 0)
		return own;
	close(own);
	return first;
}

int origin_find(int root, const struct origin_of *of, enum limit_id limit, struct origin *ret)
{
	struct files f = {.root = root};
	struct stat st;

	if (root < 0 || fstat(root, &st))
		return -EBADF;
	memset(ret, 0, sizeof(*ret));
	ret->limit = &limit_table[limit];
	ret->outside = is_outside(&f);
	origin_workload(&f, of->pid, &ret->workload);
	if (!ret->workload.unit[0] && ret->workload.runtime == RUNTIME_NONE && of->cgroup)
		workload_of(of->cgroup, &ret->workload);
	switch (ret->limit->kind) {
	case LIMIT_OF_MACHINE:
		origin_of_sysctl(&f, ret);
		break;
	case LIMIT_OF_PROCESS:
		origin_of_rlimit(&f, of->pid, of->ppid, ret);
		break;
	case LIMIT_OF_CGROUP:
		origin_of_cgroup(&f, of, ret);
		break;
	}
	ret->unread = f.unread;
	return 0;
}
