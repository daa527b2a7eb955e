/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: processes that ended and of which no last record came: the hook `life` is off, the ring
 * was full, or the kernel passed the hook over. Without this they would be watched forever.
 */
#ifndef FS_COLLECT_ENDS_H
#define FS_COLLECT_ENDS_H

#include "collect/collector.h"

/* Whether no process of our pid namespace has it: one that was not waited for has. */
bool ends_is_gone(uint32_t pid);

/*
 * After a look, of those that did not change in it: gives who is gone a last record of its last
 * known figures. One signal 0 a process, by pids of the initial namespace alone. Ends that are
 * under way still are drained first, from `src`. Returns how many had none, or -errno.
 */
int ends_find(struct collector *c, struct source *src);

#endif
