/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads how near the cgroups of a process are to a limit of tasks (pids.max). */
#ifndef FS_COLLECT_CGROUP_CGROUP_TASKS_H
#define FS_COLLECT_CGROUP_CGROUP_TASKS_H

#include "collect/cgroup/cgroup_tree.h"
#include "model/census.h"

struct cgroup_tasks {
	struct files files;
	struct cgroup_tree pids;
	bool open;
};

/* Finds the hierarchy of the controller pids. If there is none, all readings say "no limit". */
void cgroup_tasks_open(struct cgroup_tasks *t);
void cgroup_tasks_close(struct cgroup_tasks *t);

/*
 * Reads the limit with the least room, of the cgroup of process `pid` (0: of `path`) and of its
 * ancestors.
 */
struct census_tasks cgroup_tasks_read(struct cgroup_tasks *t, uint32_t pid, const char *path);

#endif
