/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: selects the processes that the output shows, unless the BPF programs already select
 * them.
 */
#ifndef FS_COLLECT_FILTER_H
#define FS_COLLECT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_PIDS_MAX 256

struct filter {
	uint32_t pid[FILTER_PIDS_MAX];
	size_t pids;   /* number of pids to show; 0: all processes */
	bool children; /* true: also show those children of these pids that faultscope follows */
	bool has_comm;
	regex_t comm;
	const char *pattern; /* the text of `comm`, not owned; NULL: none */
	char cgroup[256]; /* cgroup path without the mount point; empty: all cgroups */
};

/* Selects processes whose name matches an extended regular expression. Returns 0 or -EINVAL. */
int filter_comm(struct filter *f, const char *pattern, char *error, size_t size);

/*
 * Selects processes by cgroup. `path` is a directory below a cgroup mount, or a path as in
 * /proc/PID/cgroup. Returns 0, or -ENOENT with `error` set.
 */
int filter_cgroup(struct filter *f, const char *path, char *error, size_t size);

/*
 * Selects the processes that a container has now. `id` is as for container_pids_find(). Returns 0,
 * or with `error` set -EINVAL, -ENOENT, -E2BIG, or another -errno if /proc cannot be listed.
 */
int filter_container(struct filter *f, const char *id, char *error, size_t size);

/* Returns whether the view shows a process, whose cgroup may be unknown (NULL). */
bool filter_shows(const struct filter *f, uint32_t pid, uint32_t flags, const char *comm,
		  const char *cgroup);

void filter_free(struct filter *f);

#endif
