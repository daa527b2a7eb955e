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
	struct identity id; /* identity of one of its members */
	/* `id` is that of all members; else only kind, name and namespace apply to all */
	bool one;
	bool own;			      /* has series under its own name */
	bool active;			      /* has a live process */
	uint64_t gauge[NR_CENSUS_GAUGES];     /* at the last census_update() */
	uint64_t counter[NR_CENSUS_COUNTERS]; /* counted while it had its own series */
	double pressure;		      /* at the last census_update(); see census.c */

	/* bookkeeping of the census */
	uint64_t shown[NR_CENSUS_COUNTERS];	   /* values of its own series at the last update */
	uint64_t first_ns, last_ns;		   /* lifetime of its processes, as far as seen */
	uint64_t stall_ns, failures;		   /* in its own series or in ~other */
	uint64_t stall_before_ns, failures_before; /* at the update before */
	bool limited, represented, mixed;
	uint32_t refs; /* processes in the table */
};

struct census_limits {
	uint32_t workloads; /* workloads with their own series: 50 */
	uint32_t series;    /* all series: 5000 */
	/* series that do not belong to workloads; they count towards `series` */
	uint32_t series_else;
	/* series of one workload, without the rare ones: see census_series() */
	uint32_t series_each;
	uint64_t min_age_ns;   /* minimum age for its own series: 30 s */
	uint64_t retention_ns; /* how long series stay after the last process: 5 min */
};

struct census {
	struct census_limits limits;
	struct census_workload *own[CENSUS_WORKLOADS_MAX]; /* `owned` workloads, the oldest first */
	struct census_workload other;			   /* all other workloads */
	uint32_t owned;
	uint32_t folded;	 /* workloads that are old enough but in `other` for want of room */
	uint32_t series;	 /* current number of series of workloads and of `other` */
	uint64_t series_limited; /* series dropped for want of room, total */
	uint64_t processes_lost; /* processes above the maximum, whose counts are missing, total */
	/* how often a workload was above the maximum, and counted in `other` without its name */
	uint64_t workloads_lost;

	struct pids processes; /* entries of struct census_process */
	uint32_t ended;	       /* number of ended processes among them */
	struct table workload; /* by name; the table owns its entries */
	uint32_t workloads;
	uint64_t updated_ns;
	bool swept;    /* since then */
	uint32_t made; /* entries created since the last sweep */
};

/* Returns 0 or -ENOMEM. */
int census_init(struct census *c, const struct census_limits *limits);
void census_free(struct census *c);

/*
 * Takes the current record of a process, or with PROC_FINAL its last one. An unchanged process need
 * not be passed again. Returns -ENOMEM when it is not taken; it is then counted as lost.
 */
int census_take(struct census *c, const struct process_record *r, const struct identity *id,
		uint64_t now_ns);

/*
 * Removes a process that has exited without a last record. Passing it again would count everything
 * again.
 */
void census_gone(struct census *c, const struct process_key *of);

/*
 * Iterates over processes that are thought to be alive, with the time of their last record. Start
 * with *at 0; returns false at the end. For callers that check for lost exits.
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
