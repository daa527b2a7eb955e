/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: which cgroup on the way to the root binds, and who set its limit. */
#ifndef FS_COLLECT_ORIGIN_CGROUP_H
#define FS_COLLECT_ORIGIN_CGROUP_H

#include "collect/origin_file.h"

/*
 * Fills the limit of the level that has the least left, and who set it. `path`, of version 2, is
 * for a process that is gone; else NULL.
 */
void origin_of_cgroup(struct files *f, uint32_t pid, const char *path, struct origin *o);

#endif
