/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the table of things that run out. A row says how much of it is in use and where it ends;
 * its growth is kept and can be extended, and another limit can be assumed for it. What is a row
 * here is one to the rules and to --assume.
 */
#ifndef FS_MODEL_RESOURCES_H
#define FS_MODEL_RESOURCES_H

#include "model/model.h"

enum resource_scope { OF_PROCESS, OF_CGROUP, OF_HOST };

struct use {
	uint64_t value;
	uint64_t high;	     /* highest seen; where `top` is kept, the highest share of a limit */
	uint64_t high_limit; /* the limit that held then */
	uint64_t at_end;     /* of a process that ended: what it had by then, where that is known */
	uint64_t limit;	     /* UINT64_MAX: none, or none that holds here; 0: not known */
	bool assumed;	     /* the limit */
};

struct resource {
	const char *limit; /* as people know it, and --assume takes it */
	const char *what;  /* is used up */
	enum resource_scope scope;
	bool bytes;
	/* Growth is kept from this share of the limit on: what is lower fills and empties daily. */
	unsigned int watch_percent;
	/* Value, and where it is told the high, of a subject or NULL for the host; false: unknown.
	 */
	bool (*use)(const struct model *m, const struct subject *s, struct use *ret);
	uint64_t (*get_limit)(const struct model *m, const struct subject *s);
};

enum resource_id {
	RESOURCE_MAPS,
	RESOURCE_FDS,
	RESOURCE_MEMLOCK,
	RESOURCE_THREADS,
	RESOURCE_CGROUP_MEMORY,
	RESOURCE_CGROUP_PIDS,
	RESOURCE_FILES,
	RESOURCE_COMMIT,
	RESOURCE_MEMORY,
	RESOURCE_SWAP,
	NR_RESOURCES,
};

extern const struct resource resources[NR_RESOURCES];

_Static_assert(NR_RESOURCES <= RESOURCES_MAX, "a series and an assumption a row");

/* By name of the limit; -1 where there is none. */
int resource_find(const char *limit);

/* The one that is assumed, else the one that holds; as in a struct use. */
uint64_t resource_limit(const struct model *m, const struct subject *s, size_t i);

/* Of a process that ended, value is the highest. False where it is not known. */
bool resource_use(const struct model *m, const struct subject *s, size_t i, struct use *ret);

/* Whether there is a limit that can be reached. */
static inline bool use_is_bounded(const struct use *u)
{
	return u->limit && u->limit != UINT64_MAX;
}

/* NULL where none is kept. */
const struct series *resource_series(const struct model *m, const struct subject *s, size_t i);

/* Of a process that ended there is none. */
struct forecast resource_forecast(const struct model *m, const struct subject *s, size_t i);

#endif
