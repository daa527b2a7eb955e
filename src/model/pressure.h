/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: how short of memory the machine, its cgroups and its file systems in memory are. Records
 * that user space makes once a look, from small files of /proc and cgroupfs; rates are taken over
 * ten to twenty seconds where that much was watched.
 */
#ifndef FS_MODEL_PRESSURE_H
#define FS_MODEL_PRESSURE_H

#include "model/model.h"
#include "records/pressure_records.h"

#define LEVELS_MAX     64 /* cgroups with a limit of their own */
#define MOUNTS_MAX     48
#define SCORES_MAX     8 /* of those that the OOM killer would take first */

struct level {
	struct process_key id; /* as findings have it */
	struct cgroup_record now, base, newer;
	struct series series; /* of what cannot be dropped */
};

struct mount_use {
	struct process_key id;
	struct mount_record now;
	struct series series;
};

struct pressure {
	bool known; /* false: of a recording that has none */
	struct pressure_record now, base, newer;
	struct level level[LEVELS_MAX];
	struct mount_use mount[MOUNTS_MAX];
	struct score_record score[SCORES_MAX];
	size_t levels, mounts, scores;
	uint64_t lost; /* levels and mounts that there was no room for */
};

/* For model_take(): -ENOMEM. */
int pressure_take(struct model *m, const struct record *h);

/* Events of a figure, a second, since the base; below 0: not known. */
double host_rate(const struct model *m, enum host_figure i);
double level_rate(const struct level *l, enum cgroup_figure i);

/* FIGURE_UNKNOWN where there is none. */
uint64_t host_figure(const struct model *m, enum host_figure i);

/* The share of time (0 to 1) since the base that something waited for memory; below 0: not known */
double host_stall(const struct model *m, bool full);
double level_stall(const struct level *l, bool full);

/* Whether it was read at the last look: else it is gone. */
bool level_is_there(const struct model *m, const struct level *l);
bool mount_is_there(const struct model *m, const struct mount_use *u);

/* Whether a mount may become news, and is worth its place in a recording: a tmpfs in use, or a disk
 * that is nearly full. */
bool mount_may_matter(const struct mount_record *r);

/* What it cannot give back but by swapping; FIGURE_UNKNOWN: not known. */
uint64_t level_kept_bytes(const struct level *l);

/* Whether a cgroup (NULL: not known) is the one of this path, or below it. */
bool cgroup_is_within(const char *cgroup, const char *path);

/* The path of the cgroup so many levels above; false: not known, or there are not so many. */
bool cgroup_above(const char *cgroup, uint32_t up, char *ret, size_t size);

/* The same of a level's path. */
bool level_holds(const struct level *l, const char *cgroup);

/* The lower of memory.max and of what it may have beside swap; FIGURE_UNKNOWN: none. */
bool level_has_limit(const struct level *l);

struct forecast level_forecast(const struct model *m, const struct level *l);
struct forecast mount_forecast(const struct model *m, const struct mount_use *u);

const char *host_figure_key(size_t i);
const char *cgroup_figure_key(size_t i);

#endif
