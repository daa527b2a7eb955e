/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: scans without BPF iterators, from /proc/PID/{stat,status,limits,fd}; never maps or smaps.
 * Start times in /proc have a resolution of one clock tick, so all records of such a session have
 * start times rounded down to a tick.
 */
#ifndef FS_PROBE_PROC_SCAN_H
#define FS_PROBE_PROC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"
#include "wire.h"

struct proc_scan; /* values of each process at the last scan */

/* Functions that read the kernel side's state of a process. */
struct proc_states {
	void *ctx;
	/* Returns 1; 0: no state exists; -EAGAIN: state cannot be read completely now. */
	int (*read)(void *ctx, __u32 pid, struct fs_state *ret);
	/* Returns whether state that `read` did not find is moving from one thread to another. */
	bool (*waits)(void *ctx, __u32 pid, __u64 birth_ns);
};

/*
 * Scans /proc once: sends a record for each process that changed. `states` NULL: there is no kernel
 * side. With `everyone`, also processes without state. Returns 0, -ENOMEM, or the sink's error.
 */
int proc_scan(struct proc_scan **pl, bool everyone, const struct proc_states *states,
	      const struct sink *sink);
void proc_scan_free(struct proc_scan *pl);

/* Rounds a start time in nanoseconds down to a clock tick, as in /proc. */
__u64 proc_scan_birth(__u64 start_ns);

#endif
