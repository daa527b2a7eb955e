/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: processes that ended without a last record: the probe `lifecycle` is off, the ring
 * buffer was full, or the kernel skipped the event. Without this they would be watched forever.
 */
#ifndef FS_COLLECT_PROCESS_ENDS_H
#define FS_COLLECT_PROCESS_ENDS_H

#include "collect/collector.h"

/* How it is found out: by signal 0, or where pids are another namespace's by a look of all. */
struct ends {
	bool foreign;	 /* our pid namespace is not the records' */
	bool whole;	 /* the look at hand tells all processes, changed or not */
	uint64_t losses; /* of the ring, the table and the kernel, when it was found out last */
	uint64_t before; /* and before the look at hand */
	uint64_t begin_ns;
};

/* Before a look: in another namespace it has to tell all, where an end may have been lost. */
void ends_begin(struct ends *e, const struct model *m, struct source *src);

/* After it: whether an end may have been lost, and it can be told now whose. */
bool ends_may_be_lost(struct ends *e, const struct model *m);

/* Of one that was told last then: no process has its pid, or a look of all did not see it. */
bool ends_is_gone(const struct ends *e, uint32_t pid, uint64_t told_ns);

/*
 * After a look, of those that did not change in it: gives who is gone a last record of its last
 * known figures. Ends that are under way still are drained first, from `src`. Returns how many had
 * none, or -errno.
 */
int ends_find(const struct ends *e, struct collector *c, struct source *src);

#endif
