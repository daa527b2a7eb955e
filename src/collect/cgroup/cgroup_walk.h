/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: visits all cgroups below a directory, up to a maximum, with their paths. */
#ifndef FS_COLLECT_CGROUP_CGROUP_WALK_H
#define FS_COLLECT_CGROUP_CGROUP_WALK_H

#include <stdint.h>

#define CGROUP_WALK_PATH 512

struct cgroup_walk {
	void (*take)(void *ctx, int dir, const char *path); /* called for each cgroup, "/" first */
	void *ctx;
	unsigned int dirs_most, depth_most;
	/*
	 * number of cgroups that were skipped, because there were too many or they were nested too
	 * deeply. A cgroup whose directory could not be read to its end adds 1
	 */
	uint64_t over;

	/* private: only cgroup_walk() uses these members */
	unsigned int dirs;
	char path[CGROUP_WALK_PATH];
};

/* Walks the cgroups below the directory `dir`, and closes `dir`. */
void cgroup_walk(struct cgroup_walk *w, int dir);

#endif
