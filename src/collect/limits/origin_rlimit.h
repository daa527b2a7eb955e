/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds the ancestor from which a process inherited a resource limit, and who set the
 * ancestor's limit.
 */
#ifndef FS_COLLECT_LIMITS_ORIGIN_RLIMIT_H
#define FS_COLLECT_LIMITS_ORIGIN_RLIMIT_H

#include "collect/files/rooted_file.h"

/*
 * Finds the current limit, the process from which it was inherited, and who set it. If `pid` is 0
 * or gone, the search starts at `ppid`, if known.
 */
void origin_of_rlimit(struct files *f, uint32_t pid, uint32_t ppid, struct origin *o);

/* Finds the workload of a process. *ret is empty if the process has no workload. */
void origin_workload(struct files *f, uint32_t pid, struct workload *ret);

#endif
