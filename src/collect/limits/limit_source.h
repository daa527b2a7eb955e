/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: where a limit of a process comes from. Reads /proc, cgroupfs and configuration files. */
#ifndef FS_COLLECT_LIMITS_LIMIT_SOURCE_H
#define FS_COLLECT_LIMITS_LIMIT_SOURCE_H

#include "model/origin.h"

/* Of whom; what is not known is 0 or NULL. */
struct origin_of {
	uint32_t pid; /* of the /proc below the root; may be gone: then the others help */
	uint32_t ppid;
	const char *cgroup; /* as it was, of version 2 or of the memory controller */
	bool at_cgroup;	    /* the limit is that cgroup's own: no other level is looked at */
};

/*
 * The root directory that belongs to this kernel: ours; or the host's, from a container that has
 * the host's pids and may look. -errno; to be closed.
 */
int origin_root(void);

/* What is read of this root beside /proc and /sys, NULL at the end: to stay readable. */
extern const char *const origin_places[];

/*
 * What may not be read any more (privileges were dropped, landlock entered) is `unread`. Returns 0
 * (what is not known is said in *ret), or -EBADF.
 */
int origin_find(int root, const struct origin_of *of, enum limit_id limit, struct origin *ret);

#endif
