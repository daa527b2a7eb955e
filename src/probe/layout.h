/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: compares the kernel's BTF with structures that BPF programs read without relocation. */
#ifndef FS_PROBE_LAYOUT_H
#define FS_PROBE_LAYOUT_H

#include <bpf/btf.h>
#include <stdbool.h>

#include "wire.h"

/*
 * Returns whether the kernel's maple tree nodes have another layout than bpf/wire_maple.h. Returns
 * false if the kernel's BTF has no maple tree, as before 6.1.
 */
bool layout_areas_foreign(const struct btf *kernel);

#define NO_DELAYS "this kernel lacks CONFIG_SCHED_INFO"

/* Returns whether the scheduler counts for how long each thread waits for a CPU. */
bool layout_counts_delays(const struct btf *kernel);

/*
 * Returns whether the kernel keeps the return addresses of traced functions with each thread. Until
 * "fprobe: Rewrite fprobe on function-graph tracer" (6.14), it has a pool for all threads, which
 * calls that wait can use up.
 */
bool layout_returns_unlimited(const struct btf *kernel);

/* Returns FS_LOCK_SUCCESS_*: which argument of mmap_lock_acquire_returned is `success`. */
__u32 layout_lock_success(const struct btf *kernel);

#endif
