/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: reads usage and limits of the cgroups of watched processes, at each scan. */
#ifndef FS_COLLECT_CGROUP_CGROUP_LEVELS_H
#define FS_COLLECT_CGROUP_CGROUP_LEVELS_H

#include "collect/cgroup/cgroup_tree.h"
#include "model/model.h"
#include "probe/source.h"

#define LEVELS_PROCESSES 256 /* maximum number of processes read per scan */
#define LEVELS_GROUPS	 32  /* maximum number of cgroups read per scan; each is read only once */

struct cgroup_levels {
	struct files files;
	struct cgroup_tree memory, pids;
	bool has_memory, has_pids;
};

/* Opens the cgroup hierarchies. Returns false if no hierarchy is visible, and opens nothing. */
bool cgroup_levels_open(struct cgroup_levels *l);
void cgroup_levels_close(struct cgroup_levels *l);

/*
 * Sends a record to the consumer `sink` for each live process whose cgroup limits or usage differ
 * from the model. Processes that never had a limit get no record. Returns the consumer's result.
 */
int cgroup_levels_read(struct cgroup_levels *l, const struct model *m, uint64_t t_ns,
		       const struct sink *sink);

#endif
