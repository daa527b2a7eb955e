/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: how full the control groups of watched processes are, at each look. */
#ifndef FS_COLLECT_CGROUP_CGROUP_LEVELS_H
#define FS_COLLECT_CGROUP_CGROUP_LEVELS_H

#include "collect/cgroup/cgroup_tree.h"
#include "model/model.h"
#include "probe/source.h"

#define LEVELS_PROCESSES 256 /* of a look; more are not asked about */
#define LEVELS_GROUPS	 32  /* read once in a look, whoever is in them */

struct cgroup_levels {
	struct files files;
	struct cgroup_tree memory, pids;
	bool has_memory, has_pids;
};

/* False where there is no hierarchy to be seen. To be closed where it was true. */
bool cgroup_levels_open(struct cgroup_levels *l);
void cgroup_levels_close(struct cgroup_levels *l);

/*
 * Hands a record of each living process that has a limit, or had one, to the sink, where it is
 * another than the model knows. Returns as the sink.
 */
int cgroup_levels_read(struct cgroup_levels *l, const struct model *m, uint64_t t_ns,
		       const struct sink *sink);

#endif
