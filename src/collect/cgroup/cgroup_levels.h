/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: usage and limits of the cgroups of watched processes, at each scan. */
#ifndef FS_COLLECT_CGROUP_CGROUP_LEVELS_H
#define FS_COLLECT_CGROUP_CGROUP_LEVELS_H

#include "collect/cgroup/cgroup_tree.h"
#include "model/model.h"
#include "probe/source.h"

#define LEVELS_PROCESSES 256 /* processes per scan; more are not read */
#define LEVELS_GROUPS	 32  /* cgroups per scan, each read once for all of its processes */

struct cgroup_levels {
	struct files files;
	struct cgroup_tree memory, pids;
	bool has_memory, has_pids;
};

/* Opens the cgroup hierarchies. Returns false if none is visible: then do not close. */
bool cgroup_levels_open(struct cgroup_levels *l);
void cgroup_levels_close(struct cgroup_levels *l);

/*
 * Sends the sink a record for each live process that has a limit, or had one, if it differs from
 * the model's. Returns what the sink returns.
 */
int cgroup_levels_read(struct cgroup_levels *l, const struct model *m, uint64_t t_ns,
		       const struct sink *sink);

#endif
