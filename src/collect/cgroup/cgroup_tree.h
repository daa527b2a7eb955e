/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: cgroup hierarchies, and the level above a process whose limit applies. */
#ifndef FS_COLLECT_CGROUP_CGROUP_TREE_H
#define FS_COLLECT_CGROUP_CGROUP_TREE_H

#include "collect/files/rooted_file.h"

/* A hierarchy, from /proc/self/mountinfo. */
struct cgroup_mount {
	char point[256];
	char root[256]; /* path of the cgroup that is mounted there */
	bool v1;
};

/*
 * Finds the hierarchy with the controller: its own in version 1, else version 2. Returns false if
 * there is none.
 */
bool cgroup_mount_find(struct span mountinfo, const char *controller, struct cgroup_mount *ret);

/* Finds the path in /proc/PID/cgroup, for a controller (version 1) or for version 2 (NULL). */
bool cgroup_path_find(struct span text, const char *controller, char *ret, size_t size);

struct cgroup_tree {
	struct files *f;
	const char *controller;
	struct cgroup_mount mount;
	char page[16]; /* huge page size in file names: "2MB" */
	bool firm;     /* memory usage counts only what is not reclaimable */
};

bool cgroup_tree_open(struct files *f, const char *controller, struct cgroup_tree *ret);

/*
 * Finds the cgroup of a process, below the mount, in its /proc file. For a process that is gone,
 * `path` is the known path of version 2 (NULL: none).
 */
bool cgroup_tree_dir(const struct cgroup_tree *t, uint32_t pid, const char *path, char *ret,
		     size_t size);

/* Returns whether the cgroup exists and has this limit. The root of v2 has none. */
bool cgroup_tree_has(const struct cgroup_tree *t, const char *dir, const struct limit *l);

struct cgroup_level {
	bool binds; /* a limit was found; false: no level has one */
	uint64_t max, used;
	uint32_t up;   /* levels between the process's cgroup and this one */
	char dir[768]; /* absolute path of this cgroup */
	char file[64]; /* name of the limit's file in `dir` */
};

/* Reads the limit of one level, without the levels above. */
void cgroup_tree_level(const struct cgroup_tree *t, const char *dir, const struct limit *l,
		       struct cgroup_level *ret);

/* Finds the level with the least room; of equal ones the innermost. Overwrites `dir`. */
void cgroup_tree_find(const struct cgroup_tree *t, char *dir, const struct limit *l,
		      struct cgroup_level *ret);

#endif
