/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: the kernel's run statistics (count, time, missed runs) of the loaded programs. */
#ifndef FS_PROBE_STATISTICS_H
#define FS_PROBE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

struct bpf_object;

struct program_statistics {
	const char *name;   /* name of the program; valid while the object is open */
	__u64 runs, run_ns; /* counted only while kernel.bpf_stats_enabled is set */
};

/* Reads the statistics of as many programs as fit. Returns how many were read. */
size_t statistics_read(const struct bpf_object *obj, struct program_statistics *ret, size_t room);

/*
 * Sums over all BPF programs. A program on a tracepoint does not run while it already runs on that
 * CPU (05b24ff9b2cf, 6.1). If the kernel switches to another task within the program, it therefore
 * misses events of that task.
 */
struct statistics_sum {
	__u64 run_ns; /* run time, counted only if kernel.bpf_stats_enabled is set */
	__u64 missed; /* program runs that the kernel skipped, and that may have lost an event */
};

/*
 * Returns whether a run that the kernel skipped may have lost an event. If on_page_kernel reads
 * user memory that is not resident, this read causes a page fault in kernel mode, for which the
 * kernel skips the program. Page faults are disabled during the read, so the fault adds no page.
 * Before Linux 7.0, no other fault can begin while the program runs.
 */
bool statistics_is_loss(const char *program, int kernel_major);

/* Also calls each() for each program, if it is not NULL. */
struct statistics_sum statistics_sum(const struct bpf_object *obj,
				     void (*each)(void *ctx, const struct program_statistics *p),
				     void *ctx);

#endif
