/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: how many series of workloads there may be, and what they say. Processes come in with their
 * workload; sums, the worst process and counters go out, of at most so many workloads under their
 * own name and of all others as one, "~other". Pure: time is handed in, CLOCK_BOOTTIME all of it.
 *
 * Counters never go back, and nothing is counted twice: what was counted in ~other stays there,
 * what is promoted begins its own series, what is dropped for want of room goes on in ~other.
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
	struct identity id; /* of one of its members */
	bool one;	    /* and of all: else only kind, name and namespace hold for it */
	bool own;	    /* has series under its own name */
	bool active;	    /* has a process that lives */
	uint64_t gauge[NR_CENSUS_GAUGES];     /* by the last census_update() */
	uint64_t counter[NR_CENSUS_COUNTERS]; /* while it had its own series */
	double pressure;		      /* by the last census_update(); see census.c */

	/* bookkeeping of the census */
	uint64_t shown[NR_CENSUS_COUNTERS];	   /* of its own series, by the last update */
	uint64_t first_ns, last_ns;		   /* its processes' lives, as far as seen */
	uint64_t stall_ns, failures;		   /* whoever has the series */
	uint64_t stall_before_ns, failures_before; /* by the update before */
	bool limited, represented, mixed;
	uint32_t refs; /* processes in the table */
};

struct census_limits {
	uint32_t workloads;    /* with series of their own: 50 */
	uint32_t series;       /* in all: 5000 */
	uint32_t series_else;  /* those that are not of workloads, which count too */
	uint32_t series_each;  /* of a workload, without the rare ones: see census_series() */
	uint64_t min_age_ns;   /* for a workload to get its own: 30 s */
	uint64_t retention_ns; /* for which it keeps them after its last process: 5 min */
};

struct census {
	struct census_limits limits;
	struct census_workload *own[CENSUS_WORKLOADS_MAX]; /* `owned` of them, the oldest first */
	struct census_workload other;			   /* all the rest */
	uint32_t owned;
	uint32_t folded;	 /* old enough, but in `other` for want of room */
	uint32_t series;	 /* of workloads and `other`, now */
	uint64_t series_limited; /* dropped for want of room, ever */
	uint64_t processes_lost; /* beyond the cap: their counts are missing, ever */
	uint64_t workloads_lost; /* times that one was beyond the cap: in `other` without a name */

	struct pids processes; /* of struct census_process */
	uint32_t ended;	       /* of them */
	struct table workload; /* by name; owned, and what is in it */
	uint32_t workloads;
	uint64_t updated_ns;
	bool swept;    /* since then */
	uint32_t made; /* since it was swept */
};

/* -ENOMEM. */
int census_init(struct census *c, const struct census_limits *limits);
void census_free(struct census *c);

/*
 * A process as it is now; with PROC_FINAL as it was. Processes that did not change need not be
 * told again. -ENOMEM: not taken, counted as lost.
 */
int census_take(struct census *c, const struct process_record *r, const struct identity *id,
		uint64_t now_ns);

/*
 * It is gone for good, though its last record did not come: were it told again, all that it counted
 * would be counted again.
 */
void census_gone(struct census *c, const struct process_key *of);

/*
 * All that are thought to live, and when they were told last: 0 begins; false ends. For who has to
 * look after losses.
 */
bool census_each(const struct census *c, uint32_t *at, struct process_key *ret,
		 uint64_t *ret_told_ns);

/*
 * `n` more of what is told, of the workload that the process is in; of `id` where the process is
 * not known; of ~other where that is NULL.
 */
void census_count(struct census *c, const struct process_key *of, const struct identity *id,
		  enum census_counter counter, uint64_t n, uint64_t now_ns);

/*
 * Before each answer: sums, promotes, retires, drops. Gauges are of processes that live;
 * `max_map_count` is for the pressure, 0 where it is not known.
 */
void census_update(struct census *c, uint64_t now_ns, uint64_t max_map_count);

/* How many series a workload has: those of each, and the rare counters that are not 0. */
uint32_t census_series(const struct census *c, const struct census_workload *w);

#endif
