/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: what the kernel counts of the programs that were loaded. */
#ifndef FS_PROBE_STATISTICS_H
#define FS_PROBE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

struct bpf_object;

struct program_statistics {
	const char *name;   /* for as long as the object is open */
	__u64 runs, run_ns; /* while kernel.bpf_stats_enabled */
};

/* Of all programs, as far as there is room: how many. */
size_t statistics_read(const struct bpf_object *obj, struct program_statistics *ret, size_t room);

/*
 * Of all programs together. A program that is attached to a tracepoint does not run while it runs
 * already on that CPU (05b24ff9b2cf, 6.1): where the kernel may switch tasks in the middle of a
 * program, the next task's event is missed.
 */
struct statistics_sum {
	__u64 run_ns; /* while kernel.bpf_stats_enabled */
	__u64 missed; /* runs that the kernel passed over */
};

struct statistics_sum statistics_sum(const struct bpf_object *obj);

#endif
