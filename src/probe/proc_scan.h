/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: scans without BPF iterators, from /proc/PID/{stat,status,limits,fd}, but never maps or
 * smaps.
 *
 * Start times in /proc are in clock ticks, but a pid may be reused within one tick. If the BPF
 * programs saw the fork of a process, its records have the exact start time. The start times of
 * older processes are rounded down to a tick.
 */
#ifndef FS_PROBE_PROC_SCAN_H
#define FS_PROBE_PROC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"
#include "wire.h"

struct proc_scan; /* values of each process at the last scan */

/* Functions that read the state that BPF programs keep of a process. */
struct proc_states {
	void *ctx;
	/* Returns 1 if state was read, 0 if none exists, -EAGAIN if it is being moved. */
	int (*read)(void *ctx, __u32 pid, struct fs_whole_state *ret);
	/* Returns whether state that `read` did not find is moving from one thread to another. */
	bool (*waits)(void *ctx, __u32 pid, __u64 birth_ns);
	__u64 exact_ns; /* for proc_scan_start(): the fork probe was attached before */
};

/*
 * Scans /proc once: sends a record for each process that changed. If no BPF programs are loaded,
 * `states` is NULL. If `everyone` is set, also sends processes without state. Returns 0, -ENOMEM,
 * or the error of sink->take().
 */
int proc_scan(struct proc_scan **pl, bool everyone, const struct proc_states *states,
	      const struct sink *sink);
void proc_scan_free(struct proc_scan *pl);

/* Rounds a start time in nanoseconds down to a clock tick, the resolution of /proc. */
__u64 proc_scan_birth(__u64 start_ns);

/*
 * Returns the start time that the records of a process have, given its exact start time. `flags`
 * are those of its process_record; 0: unknown. Processes that started at `exact_ns` or later have
 * exact start times.
 */
__u64 proc_scan_start(__u64 start_ns, __u32 flags, __u64 exact_ns);

#endif
