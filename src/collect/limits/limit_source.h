/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds who set a limit of a process, from /proc, cgroupfs and configuration files. */
#ifndef FS_COLLECT_LIMITS_LIMIT_SOURCE_H
#define FS_COLLECT_LIMITS_LIMIT_SOURCE_H

#include "model/origin.h"

/* The process whose limit is to be found; unknown fields are 0 or NULL. */
struct origin_of {
	/* pid in /proc below the root; if the process is gone, `ppid` and `cgroup` are used */
	uint32_t pid;
	uint32_t ppid;
	const char *cgroup; /* last known cgroup path, of v2 or of the v1 memory controller */
	bool at_cgroup;	    /* find the limit of `cgroup` itself, ignoring those of its ancestors */
};

/*
 * Opens the root directory whose files configure this kernel. This is faultscope's own root or, in
 * a container, the root of the host. The host's root is opened only if the container shares the
 * host's pid namespace and may access the host's files. Returns a descriptor that the caller
 * closes, or -errno.
 */
int origin_root(void);

/*
 * Files and directories that origin_find() reads besides /proc and /sys; NULL-terminated. When
 * faultscope drops privileges, these paths must stay readable.
 */
extern const char *const origin_places[];

/*
 * Finds who set a limit. Counts in `unread` the files that may not be read, because of dropped
 * privileges or Landlock. Returns -EBADF, or 0 even if parts of the answer are unknown.
 */
int origin_find(int root, const struct origin_of *of, enum limit_id limit, struct origin *ret);

#endif
