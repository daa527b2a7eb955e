/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: accesses the state that BPF programs keep of a process, bpf/process_state.bpf.h. */
#ifndef FS_PROBE_STATE_H
#define FS_PROBE_STATE_H

#include <stdbool.h>

#include "probe/object.h"
#include "wire.h"

/*
 * Reads the state of a process, given its pid in faultscope's own namespace (in the hash-table
 * build: in the initial namespace). Returns 1 if state was read, 0 if none exists, -EAGAIN if it is
 * being moved.
 */
int state_read(const struct object *o, __u32 pid, struct fs_whole_state *ret);

/*
 * Returns whether the state is in the table of processes whose main thread has exited. While a
 * thread that calls execve() replaces the main thread, the state is in this table, and state_read()
 * does not find it. `birth_ns` is rounded down to a clock tick by proc_scan_birth().
 */
bool state_waits(const struct object *o, __u32 pid, __u64 birth_ns);

/*
 * Creates the state of a process, with PROC_* flags, unless it exists. Returns 0, or -ESRCH if the
 * process has exited.
 */
int state_begin(const struct object *o, __u32 pid, __u32 flags);

#endif
