/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the table of resources that have a limit. A row says how to read the use and the limit of
 * a resource. Forecasts, rules and --assume cover every row.
 */
#ifndef FS_MODEL_RESOURCES_H
#define FS_MODEL_RESOURCES_H

#include "model/model.h"

enum resource_scope { OF_PROCESS, OF_CGROUP, OF_HOST };

struct use {
	uint64_t value;
	/* peak; of mappings and fds the value at the highest share of the limit (subject.top) */
	uint64_t high;
	uint64_t high_limit; /* limit at the time of the peak `high` */
	uint64_t at_end;     /* last value of an exited process, if known */
	uint64_t limit;	     /* limit in force; UINT64_MAX: none applies; 0: not known */
	bool assumed;	     /* `limit` was given by --assume */
};

struct resource {
	const char *limit; /* name of the limit that users know, for --assume */
	const char *what;  /* plural noun for what is limited, for messages */
	enum resource_scope scope;
	bool bytes;
	/* Values are recorded from this % of the limit on, as lower ones vary in normal use. */
	unsigned int watch_percent;
	/*
	 * Sets `value` and, if known, `high`. `s` is NULL for the host. Returns false if the value
	 * is unknown.
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

/* The rows of processes and of their cgroups come before those of the host. */
#define NR_PROCESS_RESOURCES RESOURCE_FILES

_Static_assert(NR_RESOURCES <= RESOURCES_MAX, "a series and an assumption a row");

/* Returns the index of the resource whose limit has this name, or -1 if there is none. */
int resource_find(const char *limit);

/*
 * Returns the limit set by --assume, or else the limit in force. Returns 0 if the limit is not
 * known, and UINT64_MAX if there is none.
 */
uint64_t resource_limit(const struct model *m, const struct subject *s, size_t i);

/*
 * Reads the use of a resource. Returns false if the use is not known. For an exited process,
 * `value` is the peak.
 */
bool resource_use(const struct model *m, const struct subject *s, size_t i, struct use *ret);

/* Returns whether there is a limit that the use of a resource can reach. */
static inline bool use_is_bounded(const struct use *u)
{
	return u->limit && u->limit != UINT64_MAX;
}

/* Returns the recorded values of a resource, or NULL if none were recorded. */
const struct series *resource_series(const struct model *m, const struct subject *s, size_t i);

/* Forecasts when a resource reaches its limit. For exited processes, there is no forecast. */
struct forecast resource_forecast(const struct model *m, const struct subject *s, size_t i);

#endif
