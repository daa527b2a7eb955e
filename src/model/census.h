/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: aggregates processes into workloads, with a bounded number of series. Processes enter with
 * their workload; sums, the worst process and counters come out, for a limited number of workloads
 * by name and for all others together as "~other". Pure: the caller passes the time, always
 * CLOCK_BOOTTIME.
 *
 * Counters never decrease, and nothing is counted twice: what was counted in ~other stays there, a
 * promoted workload starts its own series, and a demoted one continues in ~other.
 */
#ifndef FS_MODEL_CENSUS_H
#define FS_MODEL_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pids.h"
#include "base/table.h"
#include "model/exported.h"
#include "model/identity.h"
#include "records/records.h"

#define CENSUS_PROCESSES_MAX (1u << 17)
#define CENSUS_WORKLOADS_MAX 4096
#define CENSUS_OTHER	     "~other"

struct census_workload {
	struct table_link link;
	struct identity id; /* identity of one of the workload's processes */
	/* If true, `id` is equal for all processes; else only its kind, name and namespace are. */
	bool one;
	bool own;			      /* the workload has series of its own */
	bool active;			      /* the workload has a live process */
	uint64_t gauge[NR_CENSUS_GAUGES];     /* sums over live processes at the last update */
	uint64_t counter[NR_CENSUS_COUNTERS]; /* events while the workload had its own series */
	double pressure;		      /* urgency for own series: see judge() in census.c */

	/* The following members are private to census.c. */
	uint64_t shown[NR_CENSUS_COUNTERS];	   /* last exported value of each own series */
	uint64_t first_ns, last_ns;		   /* first start, last sighting of a process */
	uint64_t stall_ns, failures;		   /* total stall time, total number of failures */
	uint64_t stall_before_ns, failures_before; /* stall_ns and failures at the last update */
	bool limited, represented, mixed;
	uint32_t refs; /* number of the workload's processes in census.processes */
};

struct census_limits {
	uint32_t workloads; /* maximum number of workloads with their own series; default 50 */
	uint32_t series;    /* maximum number of series of the exporter; default 5000 */
	/* Number of series that do not belong to workloads; they count towards `series`. */
	uint32_t series_else;
	/* Number of series of each workload, without the rare counters: see census_series(). */
	uint32_t series_each;
	uint64_t min_age_ns;   /* a workload must be this old to get its own series; default 30 s */
	uint64_t retention_ns; /* how long series stay after the last process; default 5 min */
};

struct census {
	struct census_limits limits;
	struct census_workload *own[CENSUS_WORKLOADS_MAX]; /* workloads with own series, by age */
	struct census_workload other;			   /* sums over all other workloads */
	uint32_t owned;
	uint32_t folded;	 /* number of old workloads without series for lack of room */
	uint32_t series;	 /* current number of series of workloads and of `other` */
	uint64_t series_limited; /* number of series dropped because of limits.series */
	uint64_t processes_lost; /* number of process records dropped: the table was full */
	/* How often a new workload exceeded CENSUS_WORKLOADS_MAX and was counted in `other`. */
	uint64_t workloads_lost;

	struct pids processes; /* table of struct census_process */
	uint32_t ended;	       /* number of entries in `processes` whose process has exited */
	struct table workload; /* table of workloads by name; it owns its entries */
	uint32_t workloads;
	uint64_t updated_ns;
	bool swept;    /* idle workloads were removed since the last census_update() */
	uint32_t made; /* number of workloads created since idle ones were removed */
};

/* census_init() returns 0 or -ENOMEM. */
int census_init(struct census *c, const struct census_limits *limits);
void census_free(struct census *c);

/*
 * Takes the current record of a process, or with PROC_FINAL its last one. Unchanged processes may
 * be skipped. Returns -ENOMEM if the record is dropped; it is then counted as lost.
 */
int census_take(struct census *c, const struct process_record *r, const struct identity *id,
		uint64_t now_ns);

/*
 * Removes a process that has exited without a last record. Do not pass its records again: all its
 * events would be counted twice.
 */
void census_gone(struct census *c, const struct process_key *of);

/*
 * Iterates over processes that are believed to be alive, to find lost exits. Start with *at = 0;
 * returns false at the end. `*ret_told_ns` is the time of the process's last record.
 */
bool census_each(const struct census *c, uint32_t *at, struct process_key *ret,
		 uint64_t *ret_told_ns);

/*
 * Adds `n` to a counter of the process's workload; if the process is unknown, of the workload `id`;
 * of ~other if `id` is NULL.
 */
void census_count(struct census *c, const struct process_key *of, const struct identity *id,
		  enum census_counter counter, uint64_t n, uint64_t now_ns);

/*
 * Call before each output: sums, promotes, expires and demotes workloads. Gauges are of live
 * processes. `max_map_count` is for the pressure value; 0: not known.
 */
void census_update(struct census *c, uint64_t now_ns, uint64_t max_map_count);

/* Returns how many series a workload has: the common ones, and rare counters that are not 0. */
uint32_t census_series(const struct census *c, const struct census_workload *w);

#endif
