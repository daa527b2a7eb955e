/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: which cgroup on the way to the root binds, and who set its limit. */
#ifndef FS_COLLECT_LIMITS_ORIGIN_CGROUP_H
#define FS_COLLECT_LIMITS_ORIGIN_CGROUP_H

#include "collect/limits/limit_source.h"
#include "collect/files/rooted_file.h"

/*
 * Fills the limit of the level that has the least left, or of the one that is asked for, and who
 * set it.
 */
void origin_of_cgroup(struct files *f, const struct origin_of *of, struct origin *o);

#endif
