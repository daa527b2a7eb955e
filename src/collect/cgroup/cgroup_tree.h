/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds cgroup hierarchies, and which ancestor's limit applies to a process. */
#ifndef FS_COLLECT_CGROUP_CGROUP_TREE_H
#define FS_COLLECT_CGROUP_CGROUP_TREE_H

#include "collect/files/rooted_file.h"

/* A cgroup hierarchy, from /proc/self/mountinfo. */
struct cgroup_mount {
	char point[256];
	char root[256]; /* path of the cgroup that is mounted at `point` */
	bool v1;
};

/*
 * Finds the hierarchy that manages a controller. This is the controller's own hierarchy in cgroup
 * v1, or else the hierarchy of cgroup v2. Returns false if no such hierarchy is mounted.
 */
bool cgroup_mount_find(struct span mountinfo, const char *controller, struct cgroup_mount *ret);

/* Finds the next cgroup mount in the lines of mountinfo. Returns false if there is none. */
bool cgroup_mount_next(struct text_lines *lines, struct cgroup_mount *ret);

/*
 * Finds the path of a process's cgroup in the text of /proc/PID/cgroup. If `controller` is NULL,
 * this is the path in cgroup v2, else the path in the v1 hierarchy of the controller.
 */
bool cgroup_path_find(struct span text, const char *controller, char *ret, size_t size);

struct cgroup_tree {
	struct files *f;
	const char *controller;
	struct cgroup_mount mount;
	char page[16]; /* huge page size in file names: "2MB" */
	bool firm;     /* count memory as used only if it is not reclaimable */
};

bool cgroup_tree_open(struct files *f, const char *controller, struct cgroup_tree *ret);

/*
 * Finds the cgroup of a process in /proc/PID/cgroup, relative to the mount. If the process is gone,
 * uses `path`, its last known cgroup v2 path (NULL: not known).
 */
bool cgroup_tree_dir(const struct cgroup_tree *t, uint32_t pid, const char *path, char *ret,
		     size_t size);

/* Returns whether the cgroup exists and has this limit. The root cgroup of v2 has no limits. */
bool cgroup_tree_has(const struct cgroup_tree *t, const char *dir, const struct limit *l);

struct cgroup_level {
	bool binds; /* whether the cgroup or an ancestor has a limit */
	uint64_t max, used;
	uint32_t up;   /* number of levels from the process's cgroup up to `dir` */
	char dir[768]; /* absolute path of the cgroup */
	char file[64]; /* name of the limit's file in `dir` */
};

/* Reads the limit of one cgroup, without those of its ancestors. */
void cgroup_tree_level(const struct cgroup_tree *t, const char *dir, const struct limit *l,
		       struct cgroup_level *ret);

/*
 * Finds the cgroup with the least room below its limit, among `dir` and its ancestors. Changes
 * `dir` during the search.
 */
void cgroup_tree_find(const struct cgroup_tree *t, char *dir, const struct limit *l,
		      struct cgroup_level *ret);

#endif
