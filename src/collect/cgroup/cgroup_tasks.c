// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/cgroup/cgroup_tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cgroup_tasks_open(struct cgroup_tasks *t)
{
	*t = (struct cgroup_tasks){.files.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	t->open = t->files.root >= 0 && cgroup_tree_open(&t->files, "pids", &t->pids);
	if (!t->open && t->files.root >= 0)
		close(t->files.root);
}

void cgroup_tasks_close(struct cgroup_tasks *t)
{
	if (t->open)
		close(t->files.root);
	t->open = false;
}

/* Reads the line "max N" of pids.events: how many forks failed at a limit. */
static uint64_t count_refused(struct cgroup_tasks *t, const char *dir)
{
	char path[FILE_PATH_BYTES + 512], *text;
	uint64_t n = 0;
	size_t len;

	snprintf(path, sizeof(path), "%s/pids.events", dir);
	if (file_read(&t->files, path, &text, &len))
		return 0;
	if (len > 4 && !strncmp(text, "max ", 4))
		n = strtoull(text + 4, NULL, 10);
	free(text);
	return n;
}

struct census_tasks cgroup_tasks_read(struct cgroup_tasks *t, uint32_t pid, const char *path)
{
	struct census_tasks ret = {};
	char dir[FILE_PATH_BYTES], own[FILE_PATH_BYTES + 256];
	struct cgroup_level level;

	if (!t->open || !cgroup_tree_dir(&t->pids, pid, path, dir, sizeof(dir)))
		return ret;
	snprintf(own, sizeof(own), "%s%s", t->pids.mount.point, dir);
	cgroup_tree_find(&t->pids, dir, &limit_table[LIMIT_CGROUP_PIDS], &level);
	if (!level.binds)
		return ret;
	ret.share = level.max ? (double)level.used / level.max : 1;
	/*
	 * Depending on its version, the kernel counts a failed fork in the cgroup of the process,
	 * or in the cgroup that has the limit: pids_event() in kernel/cgroup/pids.c.
	 */
	ret.refused = count_refused(t, own);
	if (strcmp(own, level.dir))
		ret.refused += count_refused(t, level.dir);
	return ret;
}
