/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: memory pressure of the machine, its cgroups and its tmpfs mounts. Once per interval, user
 * space creates these records from small files of /proc and cgroupfs. Rates are computed over 10 to
 * 20 s, or since the start of a shorter measurement.
 */
#ifndef FS_MODEL_PRESSURE_H
#define FS_MODEL_PRESSURE_H

#include "model/model.h"
#include "records/pressure_records.h"

#define LEVELS_MAX 64 /* maximum number of cgroups with a memory limit */
#define MOUNTS_MAX 48
#define SCORES_MAX 8 /* number of processes with the highest OOM score */

struct level {
	struct process_key id; /* key that identifies the cgroup in findings */
	struct cgroup_record now, base, newer;
	struct series series; /* recent values of memory that is not reclaimable */
};

struct mount_use {
	struct process_key id;
	struct mount_record now;
	struct series series;
};

struct pressure {
	bool known; /* false if the host has no record of memory pressure */
	struct pressure_record now, base, newer;
	struct level level[LEVELS_MAX];
	struct mount_use mount[MOUNTS_MAX];
	struct score_record score[SCORES_MAX];
	size_t levels, mounts, scores;
	uint64_t lost; /* number of cgroups and mounts left out for lack of room */
};

/* Called only by model_take(). Returns 0 or -ENOMEM. */
int pressure_take(struct model *m, const struct record *h);

/* Return the events per second since `base`; below 0: not known. */
double host_rate(const struct model *m, enum host_figure i);
double level_rate(const struct level *l, enum cgroup_figure i);

/* Returns a value of the host; FIGURE_UNKNOWN: not known. */
uint64_t host_figure(const struct model *m, enum host_figure i);

/* Return the share of time (0 to 1) that tasks stalled on memory since `base`; < 0: not known. */
double host_stall(const struct model *m, bool full);
double level_stall(const struct level *l, bool full);

/* Return whether the last scan read the cgroup or mount. If not, it is gone. */
bool level_is_there(const struct model *m, const struct level *l);
bool mount_is_there(const struct model *m, const struct mount_use *u);

/*
 * Returns whether a mount belongs into recordings: a tmpfs in use, or a disk that is nearly full.
 */
bool mount_may_matter(const struct mount_record *r);

/* Returns the bytes that are reclaimable only by swapping; FIGURE_UNKNOWN: not known. */
uint64_t level_kept_bytes(const struct level *l);

/* Returns whether a cgroup (NULL: not known) has this path or is below it. */
bool cgroup_is_within(const char *cgroup, const char *path);

/* Writes the path of the cgroup `up` levels above; false: not known, or the root is nearer. */
bool cgroup_above(const char *cgroup, uint32_t up, char *ret, size_t size);

/* Returns whether `cgroup` is the cgroup of level `l`, or is below it. */
bool level_holds(const struct level *l, const char *cgroup);

/* Returns whether the cgroup has a memory limit, and the limit is not 0. */
bool level_has_limit(const struct level *l);

struct forecast level_forecast(const struct model *m, const struct level *l);
struct forecast mount_forecast(const struct model *m, const struct mount_use *u);

const char *host_figure_key(size_t i);
const char *cgroup_figure_key(size_t i);

#endif
