/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: kernel memory that the BPF programs use. */
#ifndef FS_PROBE_KERNEL_MEMORY_H
#define FS_PROBE_KERNEL_MEMORY_H

#include <linux/types.h>

struct bpf_object;

/* Returns the bytes of all BPF maps, as the kernel reports them in /proc/self/fdinfo. */
__u64 kernel_memory_of_tables(const struct bpf_object *obj);

/*
 * Returns the bytes of the task storage of processes and threads, which the maps' own sizes do not
 * contain: an estimate from the number of elements, `stored`, by enum fs_stored.
 */
__u64 kernel_memory_of_state(const __u32 *stored);

/* Returns the bytes of task storage of a process in which nothing was counted. */
__u64 kernel_memory_of_idle(void);

#endif
