/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: what the census remembers of each process. Its own and no other's. */
#ifndef FS_MODEL_CENSUS_PROCESS_H
#define FS_MODEL_CENSUS_PROCESS_H

#include "model/census.h"

struct census_process {
	struct census_workload *w; /* NULL: none yet */
	uint64_t start_ns;
	uint64_t told_ns; /* by its last record: CLOCK_MONOTONIC */
	uint64_t serial; /* of its identity */
	uint64_t last[NR_CENSUS_TAKEN];
	uint32_t pid;
	uint32_t maps, fds, fd_soft, swap_pages;
	bool ended; /* until the next update: events may still come */
};

/* An empty table. */
struct pids census_processes(void);

/* An entry for it, without a workload yet; pointers to others are void. NULL: no room. */
struct census_process *census_process_add(struct census *c, uint32_t pid);

/* Takes those out that ended; pointers to others are void. */
void census_process_sweep(struct census *c);

#endif
