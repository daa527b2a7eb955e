/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: which cgroup on the way to the root binds, and who set its limit. */
#ifndef FS_COLLECT_ORIGIN_CGROUP_H
#define FS_COLLECT_ORIGIN_CGROUP_H

#include "collect/origin_file.h"

/* A hierarchy, as /proc/self/mountinfo has it. */
struct cgroup_mount {
	char point[256];
	char root[256]; /* the cgroup that is mounted there */
	bool v1;
};

/* The one that has the controller: version 1's own, else version 2's. False: there is none. */
bool cgroup_mount_find(struct span mountinfo, const char *controller, struct cgroup_mount *ret);

/* The path in /proc/PID/cgroup, of the controller (version 1) or of version 2 (NULL). */
bool cgroup_path_find(struct span text, const char *controller, char *ret, size_t size);

/*
 * Fills the limit of the level that has the least left, and who set it. `path`, of version 2, is
 * for a process that is gone; else NULL.
 */
void origin_of_cgroup(struct files *f, uint32_t pid, const char *path, struct origin *o);

#endif
