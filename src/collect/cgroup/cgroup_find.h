/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: looks for a cgroup that a user names, in all visible hierarchies. */
#ifndef FS_COLLECT_CGROUP_CGROUP_FIND_H
#define FS_COLLECT_CGROUP_CGROUP_FIND_H

#include "collect/files/rooted_file.h"

#define CGROUP_NEAR_MAX 3 /* maximum number of cgroups that are proposed */

struct cgroup_near {
	bool exists;	/* a hierarchy has the cgroup */
	char above[256]; /* the nearest cgroup above it that exists; "/" if there is none */
	/* children of `above`, those first whose names begin like the missing one */
	char name[CGROUP_NEAR_MAX][256];
	size_t names;
};

/* Looks for a cgroup, by a path as in /proc/PID/cgroup. */
void cgroup_find(struct files *f, const char *path, struct cgroup_near *ret);

#endif
