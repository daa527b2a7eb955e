/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: reads counts and limits that no BPF program can read, right after a call failed: keys of
 * a user, asynchronous requests, pseudo-terminals, and limits that are host-wide.
 */
#ifndef FS_COLLECT_COUNTS_H
#define FS_COLLECT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "records/records.h"

/*
 * Completes the counts of a failed call of process `pid`, if they are in /proc. Values that cannot
 * be read stay unknown (~0). `foreign`: the records come from another machine or pid namespace, so
 * that the process is not in /proc.
 */
void counts_complete(struct counted_objects *c, uint32_t pid, bool foreign);

#endif
