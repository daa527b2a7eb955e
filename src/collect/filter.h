/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: which processes a view shows, where the kernel side does not already decide it. */
#ifndef FS_COLLECT_FILTER_H
#define FS_COLLECT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILTER_PIDS_MAX 256

struct filter {
	uint32_t pid[FILTER_PIDS_MAX];
	size_t pids;   /* 0: any */
	bool children; /* followed children of them too */
	bool has_comm;
	regex_t comm;
	char cgroup[256]; /* without the mount point; empty: any */
};

/* Extended regular expression. -EINVAL with `error` set. */
int filter_comm(struct filter *f, const char *pattern, char *error, size_t size);

/* A path below a cgroup mount, or as /proc/PID/cgroup has it. -ENOENT with `error` set. */
int filter_cgroup(struct filter *f, const char *path, char *error, size_t size);

/* `cgroup` may be NULL: not known. */
bool filter_shows(const struct filter *f, uint32_t pid, uint32_t flags, const char *comm,
		  const char *cgroup);

void filter_free(struct filter *f);

#endif
