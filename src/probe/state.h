/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the state that the kernel side keeps of a process: see bpf/process_state.bpf.h. */
#ifndef FS_PROBE_STATE_H
#define FS_PROBE_STATE_H

#include <stdbool.h>

#include "probe/object.h"
#include "wire.h"

/*
 * 1, or 0 where it has none of this pid, as our own namespace has it (in the build that keeps state
 * by pid: as the initial one has it). -EAGAIN: not all of it can be read now.
 */
int state_read(const struct object *o, __u32 pid, struct fs_state *ret);

/*
 * Whether the state of a process waits in the table of those whose first thread has ended. While a
 * thread that calls execve() takes the first one's place, state_read() finds none. `birth_ns`: cut
 * to a clock tick, as proc_scan_birth() does.
 */
bool state_waits(const struct object *o, __u32 pid, __u64 birth_ns);

/* Makes the state of a process, with PROC_* flags, unless it has one. 0; -ESRCH: it is gone. */
int state_begin(const struct object *o, __u32 pid, __u32 flags);

#endif
