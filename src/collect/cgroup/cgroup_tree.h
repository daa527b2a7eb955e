/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: hierarchies of cgroups, and of the levels above a process the one that binds. */
#ifndef FS_COLLECT_CGROUP_CGROUP_TREE_H
#define FS_COLLECT_CGROUP_CGROUP_TREE_H

#include "collect/files/rooted_file.h"

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

struct cgroup_tree {
	struct files *f;
	const char *controller;
	struct cgroup_mount mount;
	char page[16]; /* size of a huge page, as cgroups spell it */
	bool firm;     /* of memory in use only what the kernel cannot take back counts */
};

bool cgroup_tree_open(struct files *f, const char *controller, struct cgroup_tree *ret);

/*
 * The cgroup of a process, below the mount: by its own line; of one that is gone `path` is what was
 * known, of version 2 (NULL: nothing).
 */
bool cgroup_tree_dir(const struct cgroup_tree *t, uint32_t pid, const char *path, char *ret,
		     size_t size);

/* Whether it is there and knows such a limit; the root of version 2 has no files of any. */
bool cgroup_tree_has(const struct cgroup_tree *t, const char *dir, const struct limit *l);

struct cgroup_level {
	bool binds; /* else none of them has a limit */
	uint64_t max, used;
	uint32_t up;   /* how many levels above the process's own */
	char dir[768]; /* below the file system */
	char file[64]; /* in it */
};

/* A level by itself, whatever is above it. */
void cgroup_tree_level(const struct cgroup_tree *t, const char *dir, const struct limit *l,
		       struct cgroup_level *ret);

/* The level with the least left; of equal ones the innermost. `dir` is used up. */
void cgroup_tree_find(const struct cgroup_tree *t, char *dir, const struct limit *l,
		      struct cgroup_level *ret);

#endif
