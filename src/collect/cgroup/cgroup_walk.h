/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: all cgroups below a directory, each with its path from there; no more than so many. */
#ifndef FS_COLLECT_CGROUP_CGROUP_WALK_H
#define FS_COLLECT_CGROUP_CGROUP_WALK_H

#include <stdint.h>

#define CGROUP_WALK_PATH 512

struct cgroup_walk {
	void (*take)(void *ctx, int dir, const char *path); /* "/" is the first */
	void *ctx;
	unsigned int dirs_most, depth_most;
	uint64_t over; /* not looked into, for want of room or depth */

	/* of the walk itself */
	unsigned int dirs;
	char path[CGROUP_WALK_PATH];
};

/* `dir` is closed. */
void cgroup_walk(struct cgroup_walk *w, int dir);

#endif
