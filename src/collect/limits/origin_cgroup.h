/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds the cgroup whose limit applies to a process, and who set that limit. */
#ifndef FS_COLLECT_LIMITS_ORIGIN_CGROUP_H
#define FS_COLLECT_LIMITS_ORIGIN_CGROUP_H

#include "collect/limits/limit_source.h"
#include "collect/files/rooted_file.h"

/*
 * Finds the cgroup whose limit applies, and who set its limit. The limit that applies is the one
 * with the least room among the cgroup and its ancestors; with at_cgroup, the cgroup's own.
 */
void origin_of_cgroup(struct files *f, const struct origin_of *of, struct origin *o);

#endif
