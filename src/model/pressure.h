/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: memory pressure of the machine, its cgroups and its tmpfs mounts. Once per interval, user
 * space creates the records from small files of /proc and cgroupfs. Rates are computed over 10 to
 * 20 s, or over a shorter measurement as a whole.
 */
#ifndef FS_MODEL_PRESSURE_H
#define FS_MODEL_PRESSURE_H

#include "model/model.h"
#include "records/pressure_records.h"

#define LEVELS_MAX 64 /* maximum number of cgroups with a memory limit */
#define MOUNTS_MAX 48
#define SCORES_MAX 8 /* number of processes with the highest OOM score */

struct level {
	struct process_key id; /* key of the cgroup in findings */
	struct cgroup_record now, base, newer;
	struct curve used; /* bytes in use at recent scans */
	struct series series; /* recent values of memory that is not reclaimable, in bytes */
};

struct mount_use {
	struct process_key id;
	struct mount_record now;
	struct series series;
};

struct pressure {
	bool known; /* whether the host has a record of memory pressure */
	struct pressure_record now, base, newer;
	struct level level[LEVELS_MAX];
	struct mount_use mount[MOUNTS_MAX];
	struct score_record score[SCORES_MAX];
	size_t levels, mounts, scores;
	uint64_t lost; /* number of cgroups and mounts dropped for lack of room */
};

/* Stores a pressure record; called only by model_take(). Returns 0 or -ENOMEM. */
int pressure_take(struct model *m, const struct record *h);

/* Return events per second, measured since the record `base`; a value below 0 means not known. */
double host_rate(const struct model *m, enum host_figure i);
double level_rate(const struct level *l, enum cgroup_figure i);

/* Returns a metric of the host, or FIGURE_UNKNOWN if it is not known. */
uint64_t host_figure(const struct model *m, enum host_figure i);

/*
 * Return the share of time (0 to 1) that tasks were stalled on memory, or a value below 0 if it is
 * not known.
 */
double host_stall(const struct model *m, bool full);
double level_stall(const struct level *l, bool full);

/* Return whether a cgroup or mount still exists, which means that the last scan read it. */
bool level_is_there(const struct model *m, const struct level *l);
bool mount_is_there(const struct model *m, const struct mount_use *u);

/*
 * Returns whether recordings contain a mount: only a tmpfs in use, or a disk that is nearly full,
 * can matter to findings.
 */
bool mount_may_matter(const struct mount_record *r);

/* Returns bytes that the kernel can reclaim only by swapping, or FIGURE_UNKNOWN. */
uint64_t level_kept_bytes(const struct level *l);

/* Returns whether a cgroup is `path` or below it. `cgroup` is NULL if not known. */
bool cgroup_is_within(const char *cgroup, const char *path);

/* Writes the path of the cgroup `up` levels higher. Returns false if the path is not known. */
bool cgroup_above(const char *cgroup, uint32_t up, char *ret, size_t size);

/* Returns whether `cgroup` is the cgroup of a level or below it. */
bool level_holds(const struct level *l, const char *cgroup);

/* Returns whether a cgroup has a memory limit above 0. */
bool level_has_limit(const struct level *l);

struct forecast level_forecast(const struct model *m, const struct level *l);
struct forecast mount_forecast(const struct model *m, const struct mount_use *u);

const char *host_figure_key(size_t i);
const char *cgroup_figure_key(size_t i);

#endif
