/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the state that the kernel side keeps of a process: see bpf/store.bpf.h. */
#ifndef FS_PROBE_STATE_H
#define FS_PROBE_STATE_H

#include "probe/object.h"
#include "wire.h"

/*
 * 1, or 0 where it has none of this pid, as our own namespace has it (in the build that keeps state
 * by pid: as the initial one has it). -EAGAIN: not all of it can be read now.
 */
int state_read(const struct object *o, __u32 pid, struct fs_state *ret);

/* Makes the state of a process, with FS_PROC_* flags, unless it has one. 0; -ESRCH: it is gone. */
int state_begin(const struct object *o, __u32 pid, __u32 flags);

#endif
