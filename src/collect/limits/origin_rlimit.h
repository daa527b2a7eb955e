/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the ancestor from which a process inherited a resource limit, and who set it
 * there.
 */
#ifndef FS_COLLECT_LIMITS_ORIGIN_RLIMIT_H
#define FS_COLLECT_LIMITS_ORIGIN_RLIMIT_H

#include "collect/files/rooted_file.h"

/*
 * Fills the current limit, the process it was inherited from, and what set it. If `pid` is gone or
 * 0, starts at `ppid`, if that is known.
 */
void origin_of_rlimit(struct files *f, uint32_t pid, uint32_t ppid, struct origin *o);

/* Finds the workload of a process; empty if it has none. */
void origin_workload(struct files *f, uint32_t pid, struct workload *ret);

#endif
