/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: names of processes and cgroups, from /proc. A few microseconds a new process. */
#ifndef FS_COLLECT_NAMES_H
#define FS_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

#define NAMES_CGROUPS 512

struct names {
	/* cgroup id (v2) to path: for a process that is gone before /proc can be read */
	struct {
		__u64 id;
		char path[200];
	} * cgroup; /* NAMES_CGROUPS of them, hashed by id; owned */
};

/* Fills exe and cgroup; false where neither is known. */
bool names_find(struct names *n, const struct fs_process_record *r, struct fs_names_record *ret);

void names_free(struct names *n);

/* The path that says most in the text of /proc/PID/cgroup: v2, else v1 memory, else any. */
void cgroup_of(const char *proc_text, char *ret, size_t size);

#endif
