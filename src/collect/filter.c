// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/names/container_pids.h"
#include "records/records.h"

int filter_comm(struct filter *f, const char *pattern, char *error, size_t size)
{
	char why[128];
	int err = regcomp(&f->comm, pattern, REG_EXTENDED | REG_NOSUB);

	if (err) {
		regerror(err, &f->comm, why, sizeof(why));
		snprintf(error, size,
			 "--comm '%s': %s\n  it is an extended regular expression, matched "
			 "anywhere in the name: --comm '^python'",
			 pattern, why);
		return -EINVAL;
	}
	f->has_comm = true;
	f->pattern = pattern;
	return 0;
}

/*
 * Returns the part of a path that is below a mounted cgroup hierarchy. Returns NULL if the path is
 * not in such a hierarchy.
 */
static const char *below_mount(const char *path)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const char *below = NULL;
	size_t longest = 0;
	struct mntent *me;

	while (f && (me = getmntent(f))) {
		size_t len = strlen(me->mnt_dir);

		if (strncmp(me->mnt_type, "cgroup", 6) || len <= longest ||
		    strncmp(path, me->mnt_dir, len) || (path[len] && path[len] != '/'))
			continue;
		longest = len;
		below = path + len;
	}
	if (f)
		endmntent(f);
	return below;
}

int filter_cgroup(struct filter *f, const char *path, char *error, size_t size)
{
	const char *below = below_mount(path);
	size_t len;

	if ((below && access(path, F_OK)) || *path != '/') {
		snprintf(error, size,
			 "--cgroup %s: no such cgroup\n  give a path below /sys/fs/cgroup, or as "
			 "in /proc/PID/cgroup: /system.slice/ssh.service",
			 path);
		return -ENOENT;
	}
	snprintf(f->cgroup, sizeof(f->cgroup), "%s", below ? below : path);
	for (len = strlen(f->cgroup); len > 1 && f->cgroup[len - 1] == '/'; len--)
		f->cgroup[len - 1] = 0;
	if (!f->cgroup[0])
		strcpy(f->cgroup, "/");
	return 0;
}

int filter_container(struct filter *f, const char *id, char *error, size_t size)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n;

	n = proc < 0 ? -errno : container_pids_find(proc, id, f->pid, FILTER_PIDS_MAX);
	if (proc >= 0)
		close(proc);
	if (n < 0 && n != -EINVAL) {
		snprintf(error, size, "--container %s: cannot list /proc: %s", id, strerror(-n));
		return n;
	}
	if (n < 0) {
		snprintf(error, size,
			 "--container %s: expected the ID of a container, or its first 12 "
			 "characters: --container 0123456789ab",
			 id);
		return n;
	}
	if (!n) {
		snprintf(error, size,
			 "--container %s: no process of this container is in /proc\n  in a "
			 "container, share the host's pids: docker --pid=host, or hostPID of "
			 "Kubernetes",
			 id);
		return -ENOENT;
	}
	if (n > FILTER_PIDS_MAX) {
		snprintf(error, size, "--container %s: more than %d processes: use --cgroup", id,
			 FILTER_PIDS_MAX);
		return -E2BIG;
	}
	f->pids = n;
	return 0;
}

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	if (!strcmp(top, "/"))
		return true;
	return !strncmp(path, top, len) && (!path[len] || path[len] == '/');
}

bool filter_shows(const struct filter *f, uint32_t pid, uint32_t flags, const char *comm,
		  const char *cgroup)
{
	bool named = !f->pids || (f->children && flags & PROC_WATCHED);

	for (size_t i = 0; i < f->pids && !named; i++)
		named = f->pid[i] == pid;
	if (!named)
		return false;
	if (f->has_comm && regexec(&f->comm, comm, 0, NULL, 0))
		return false;
	return !f->cgroup[0] || (cgroup && is_below(cgroup, f->cgroup));
}

void filter_free(struct filter *f)
{
	if (f->has_comm)
		regfree(&f->comm);
	f->has_comm = false;
}
