/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: adds to the record of an OOM kill what explains it later: what the cgroup held, which
 * processes held it, and names of cgroup, pod and container.
 */
#ifndef FS_COLLECT_OOM_OOM_SCENE_H
#define FS_COLLECT_OOM_OOM_SCENE_H

#include "collect/names/identity_cache.h"
#include "collect/oom/kernel_log.h"
#include "model/model.h"
#include "probe/source.h"

struct oom_scenes {
	bool opened;
	struct kernel_log *log; /* NULL: there was no memory for it */
	int root;		/* descriptor of the directory "/"; < 0: not open */
	/* names of workloads; known.known is NULL until the first kill */
	struct known_table known;
	bool foreign; /* records have pids of another namespace: do not read /proc */
};

/* Opens the kernel log. Call it before privileges are dropped. */
void oom_scenes_open(struct oom_scenes *o);
void oom_scenes_close(struct oom_scenes *o);

/*
 * Sends the record of a kill, and after it a struct oom_scene_record and the struct
 * oom_holder_record of processes. Of several victims of one event, only the first one gets these
 * records. `r->constraint` is set if the kernel log says it. `m` is the model to which the consumer
 * `sink` adds the records. Returns the consumer's result.
 */
int oom_scenes_take(struct oom_scenes *o, const struct model *m, struct oom_record *r,
		    const struct sink *sink);

#endif
