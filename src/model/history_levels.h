/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: memory of cgroups over time, beside their limits, for charts. The values come from the
 * processes of a cgroup (at each scan), and from records of the cgroup (at some scans).
 */
#ifndef FS_MODEL_HISTORY_LEVELS_H
#define FS_MODEL_HISTORY_LEVELS_H

#include "model/pressure.h"

#define HISTORY_LEVELS_MAX 64
#define HISTORY_POINTS_MAX 240 /* must be even, because pairs of points are merged */

/* A cgroup with a memory limit. Sizes are in bytes; UINT64_MAX: not read in that time span. */
struct history_level {
	char *path;	/* owned */
	uint64_t limit; /* memory.max; without it, memory.high */
	uint64_t high;	/* memory.high; FIGURE_UNKNOWN: none */
	uint64_t *used; /* peak of the memory in use, by point of the history; owned */
	uint64_t *kept; /* peak of the part that is not reclaimable, by point; owned */
};

struct history_levels {
	struct history_level *level; /* HISTORY_LEVELS_MAX entries; NULL before the first one */
	size_t n;
	uint64_t lost; /* number of times a cgroup found no room */
};

/*
 * history_levels_scan() adds the cgroups that the last scan read, history_levels_add() the cgroup
 * that limits a process. `at` is the index of a point, below HISTORY_POINTS_MAX. Both return 0 or
 * -ENOMEM.
 */
int history_levels_scan(struct history_levels *l, const struct model *m, size_t at);
int history_levels_add(struct history_levels *l, const struct model *m, const struct subject *s,
		       size_t at);

/* Merges each pair of points into one, and empties the second half. */
void history_levels_halve(struct history_levels *l);
void history_levels_free(struct history_levels *l);

#endif
