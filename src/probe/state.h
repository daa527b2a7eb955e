/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: accesses the kernel side's state of a process, bpf/process_state.bpf.h. */
#ifndef FS_PROBE_STATE_H
#define FS_PROBE_STATE_H

#include <stdbool.h>

#include "probe/object.h"
#include "wire.h"

/*
 * Returns 1, or 0 if no state exists for this pid of faultscope's own namespace (in the hash-table
 * build: of the initial namespace). -EAGAIN: state cannot be read completely now.
 */
int state_read(const struct object *o, __u32 pid, struct fs_state *ret);

/*
 * Returns whether the state is in the table of processes whose main thread has exited. While a
 * thread that calls execve() replaces the main thread, state_read() finds none. `birth_ns` is cut
 * to a clock tick, as proc_scan_birth() does.
 */
bool state_waits(const struct object *o, __u32 pid, __u64 birth_ns);

/*
 * Creates the state of a process, with PROC_* flags, unless it exists. Returns 0, or -ESRCH if the
 * process is gone.
 */
int state_begin(const struct object *o, __u32 pid, __u32 flags);

#endif
