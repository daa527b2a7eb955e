/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: finds the cgroup whose limit applies to a process, and who set that limit. */
#ifndef FS_COLLECT_LIMITS_ORIGIN_CGROUP_H
#define FS_COLLECT_LIMITS_ORIGIN_CGROUP_H

#include "collect/limits/limit_source.h"
#include "collect/files/rooted_file.h"

/*
 * Finds the cgroup whose limit applies, and who set this limit. Among a cgroup and its ancestors,
 * the limit with the least room applies. With at_cgroup, the limit of the cgroup itself is used.
 */
void origin_of_cgroup(struct files *f, const struct origin_of *of, struct origin *o);

#endif
