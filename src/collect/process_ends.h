/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: finds processes that ended without a last record. The record may be missing because the
 * probe `lifecycle` is off, the ring buffer was full, or the kernel skipped the event. Without this
 * search, such processes would stay in the model forever.
 */
#ifndef FS_COLLECT_PROCESS_ENDS_H
#define FS_COLLECT_PROCESS_ENDS_H

#include "collect/collector.h"

/* number of scans from one search to the next, if all processes are watched */
#define ENDS_EVERY 16

/*
 * State of the search for ended processes. A process has ended if signal 0 does not find its pid.
 * For pids of another namespace, a scan of all processes is made instead.
 */
struct ends {
	bool foreign;	 /* records have pids of another pid namespace than ours */
	bool whole;	 /* the current scan sends all processes, changed or not */
	uint64_t losses; /* lost records (ring, map, kernel) at the last check */
	uint64_t before; /* lost records before the current scan */
	uint64_t begin_ns;
};

/*
 * Call before a scan. If records have pids of another namespace, and the end of a process may have
 * been lost, the scan sends all processes.
 */
void ends_begin(struct ends *e, const struct model *m, struct source *src);

/*
 * Call at the end of a scan, with the losses of its tick record. Returns whether a process end may
 * have been lost and can be detected now.
 */
bool ends_may_be_lost(struct ends *e, const struct model *m, const struct losses *now);

/*
 * Returns whether a process is gone. This is true if no process has its pid, or if a scan of all
 * processes did not find it. The last record of the process was made at `told_ns`.
 */
bool ends_is_gone(const struct ends *e, uint32_t pid, uint64_t told_ns);

/*
 * Call at the end of a scan. For each process that is gone, sends a last record with the last known
 * values to `c`. Before that, sends the pending records of `src` to `sink`, which must pass them on
 * to `c`. Returns the number of last records, or -errno.
 */
int ends_find(const struct ends *e, struct collector *c, struct source *src,
	      const struct sink *sink);

#endif
