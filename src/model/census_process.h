/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: what the census stores for each process. Only files of the census use it. */
#ifndef FS_MODEL_CENSUS_PROCESS_H
#define FS_MODEL_CENSUS_PROCESS_H

#include "model/census.h"

struct census_process {
	struct census_workload *w; /* workload of the process; NULL: not assigned yet */
	uint64_t start_ns;
	uint64_t told_ns; /* time of the last record, CLOCK_MONOTONIC */
	uint64_t serial;  /* serial of the identity of the process's workload */
	uint64_t last[NR_CENSUS_TAKEN];
	uint32_t pid;
	uint32_t maps, fds, fd_soft, swap_pages, threads;
	uint32_t pod, container; /* hashes of labels, as in struct census_workload */
	/*
	 * the process has exited; the entry stays until the next update, as event records may be
	 * late
	 */
	bool ended;
};

/* Returns an empty table of processes. */
struct pids census_processes(void);

/*
 * Adds an entry without a workload, and invalidates pointers to other entries. Returns NULL if
 * there is no room.
 */
struct census_process *census_process_add(struct census *c, uint32_t pid);

/* Removes entries of exited processes, and invalidates pointers to other entries. */
void census_process_sweep(struct census *c);

#endif
