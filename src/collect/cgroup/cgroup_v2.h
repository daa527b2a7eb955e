/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: checks whether a path is that of the v2 cgroup with a given id. The id comes from a
 * record. The path comes from /proc/PID/cgroup, which is read later, when the process may have
 * moved to another cgroup. A path is therefore cached for an id only after this check.
 */
#ifndef FS_COLLECT_CGROUP_CGROUP_V2_H
#define FS_COLLECT_CGROUP_CGROUP_V2_H

#include <stdint.h>

#include "collect/cgroup/cgroup_tree.h"

struct cgroup_v2 {
	int root;		   /* file descriptor of the directory "/"; owned by the caller */
	struct cgroup_mount mount; /* mount of cgroup v2; `point` is empty if v2 is not visible */
};

enum cgroup_match { CGROUP_SAME, CGROUP_OTHER, CGROUP_UNKNOWN };

/* Finds the mount of the whole v2 hierarchy in proc/self/mountinfo below `root`. */
void cgroup_v2_open(struct cgroup_v2 *v, int root);

/*
 * Compares the id of the cgroup at `path` with `id`. A cgroup's id is that of its kernfs node,
 * which is the inode number of the cgroup's directory on 64-bit kernels since 5.5
 * (fs/kernfs/inode.c). Returns CGROUP_UNKNOWN when the directory is gone or not visible.
 */
enum cgroup_match cgroup_v2_match(const struct cgroup_v2 *v, const char *path, uint64_t id);

#endif
