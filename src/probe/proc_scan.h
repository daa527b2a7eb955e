/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: the look without an iterator, by /proc/PID/{stat,status,limits,fd}: never maps or smaps.
 * A process's birth is known to a clock tick there, so all records of a session that uses it carry
 * births cut to that.
 */
#ifndef FS_PROBE_PROC_SCAN_H
#define FS_PROBE_PROC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "probe/source.h"
#include "wire.h"

struct proc_scan; /* what each process looked like the last time */

/* Where the kernel side's state of a process is asked for. */
struct proc_states {
	void *ctx;
	/* 1, or 0 where it has none. -EAGAIN: not all of it can be read now. */
	int (*read)(void *ctx, __u32 pid, struct fs_state *ret);
	/* Whether one that read() did not find is being handed from thread to thread. */
	bool (*waits)(void *ctx, __u32 pid, __u64 birth_ns);
};

/*
 * One pass over /proc: a record for each process that changed. `states`: NULL where there is no
 * kernel side; then everyone is told of. 0, -ENOMEM, or the sink's error.
 */
int proc_scan(struct proc_scan **pl, bool everyone, const struct proc_states *states,
	      const struct sink *sink);
void proc_scan_free(struct proc_scan *pl);

/* A birth as /proc would tell it, nanoseconds. */
__u64 proc_scan_birth(__u64 start_ns);

#endif
