/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: from whom a process has a resource limit: the ancestor, and who gave it to that one. */
#ifndef FS_COLLECT_LIMITS_ORIGIN_RLIMIT_H
#define FS_COLLECT_LIMITS_ORIGIN_RLIMIT_H

#include "collect/files/rooted_file.h"

/*
 * Fills what is in force, whom it is inherited from, and what set it. Of a pid that is gone (or 0)
 * the parent is asked, if `ppid` tells it.
 */
void origin_of_rlimit(struct files *f, uint32_t pid, uint32_t ppid, struct origin *o);

/* The workload of a process; of none it is empty. */
void origin_workload(struct files *f, uint32_t pid, struct workload *ret);

#endif
