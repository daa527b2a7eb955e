/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the latest OOM kills, each with the state of its cgroup and of the processes that held
 * memory. Records of one kill belong together by the time of the kill and by its victim.
 */
#ifndef FS_MODEL_OOM_KILLS_H
#define FS_MODEL_OOM_KILLS_H

#include <stdbool.h>

#include "model/model.h"
#include "records/oom_records.h"

#define OOM_KILLS_MAX	32 /* maximum number of kills that are kept; new ones replace old ones */
#define OOM_VICTIMS_MAX 8  /* maximum number of victims that a kill lists */

/* Kills within this time by the same process, at the same limit, are one event. */
#define OOM_SAME_NS 2000000000ULL

/*
 * A limit counts as reached if fewer pages are left. The kernel charges up to 64 pages at once, on
 * each CPU: MEMCG_CHARGE_BATCH, mm/memcontrol.c.
 */
#define OOM_COUNTER_SLACK 256

/* A process that was killed together with others, because of memory.oom.group. */
struct oom_victim {
	struct process_key id;
	uint64_t kept_pages; /* anonymous, shared and swapped memory */
	int32_t score_adj;
	char comm[COMM_LEN];
};

struct oom_kill {
	struct oom_record first; /* the record of the first victim */
	uint32_t victims;	 /* number of victims; the first ones are in `victim` */
	struct oom_victim victim[OOM_VICTIMS_MAX];
	bool has_scene;
	struct oom_scene_record scene; /* valid if `has_scene` */
	uint32_t holders;
	struct oom_holder_record holder[OOM_HOLDERS];
	uint32_t serial; /* number of the kill, from 1 on */
};

struct oom_kills {
	size_t n;	 /* number of elements of `kill`, the oldest first */
	uint32_t serial; /* number of kills so far */
	struct oom_kill kill[OOM_KILLS_MAX];
};

/* Stores a record of a kill; called only by model_take(). Returns 0 or -ENOMEM. */
int oom_kills_take(struct model *m, const struct record *h);

/*
 * Returns whether this record belongs to the event of the latest kill: another victim of
 * memory.oom.group, or another signal to the same process.
 */
bool oom_kills_continue(const struct model *m, const struct oom_record *r);

/*
 * Returns the user stack of the thread whose request for memory led to a kill, or NULL. A stored
 * kill has it under the victim.
 */
const struct frames *oom_kills_stack(const struct model *m, const struct oom_record *r);

/*
 * What the page counters of the victim's cgroups say: whether one of them has a limit, and whether
 * the limit of memory and swap together was reached (cgroup version 1).
 */
bool oom_has_limit(const struct oom_record *r);
bool oom_memsw_is_full(const struct oom_record *r);

/*
 * Returns whether a limit of a cgroup was reached. If the kernel did not log the kill, the page
 * counters of the cgroup say so.
 */
bool oom_is_of_cgroup(const struct oom_record *r);

/* Returns the latest kill, or NULL if there was none. */
const struct oom_kill *oom_kills_last(const struct model *m);

#endif
