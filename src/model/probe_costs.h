/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: what the BPF programs of each probe cost, by the run statistics of the kernel. */
#ifndef FS_MODEL_PROBE_COSTS_H
#define FS_MODEL_PROBE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/records.h"

#define PROBE_COSTS_MAX 48

struct model;

struct probe_cost {
	char name[24];	       /* name of the probe; "other": programs that belong to none */
	uint64_t runs, run_ns; /* since the programs were loaded; counted while the kernel counts */
	uint64_t prev_runs, prev_run_ns; /* at the scan before */
	uint64_t t_ns, prev_ns;		 /* times of the two scans; 0: there was none */
};

struct probe_costs {
	struct probe_cost cost[PROBE_COSTS_MAX];
	size_t n;
};

/* What a probe costs in the last interval. */
struct probe_rate {
	double events; /* runs of its BPF programs in a second */
	double ns;     /* time that a run took */
	double share;  /* of the time of one CPU: 0 to 1, or above on several CPUs */
};

void probe_costs_take(struct probe_costs *p, const struct probe_cost_record *r);

/* Returns false if the kernel has not measured the probe in the last interval. */
bool probe_rate(const struct model *m, const char *name, struct probe_rate *ret);

#endif
