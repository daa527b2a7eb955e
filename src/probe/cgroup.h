/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the cgroup we run in, and the tightest limit on the way from it to the root. */
#ifndef FS_PROBE_CGROUP_H
#define FS_PROBE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_limit {
	bool known;
	bool unlimited; /* up to the root none is set */
	uint64_t max, now;
	char file[192]; /* to set it in */
};

/*
 * The path of our cgroup: of version 2, else of the memory controller, else of any other where it
 * is not the root; empty: none.
 */
void cgroup_path(char *ret, size_t size);

/* Of "memory" or "pids", in version 2 or 1. */
void cgroup_limit(const char *controller, struct cgroup_limit *ret);

#endif
