/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: aggregates the counters of processes by workload, with a bounded number of series. The
 * input is records of processes with their workloads. The output is sums, counters and the worst
 * process of a limited number of workloads, and of all others together as "~other". Pure: the
 * caller passes the time, always CLOCK_BOOTTIME.
 *
 * No event is counted twice: events counted in ~other stay in ~other. A promoted workload starts
 * own series, and a demoted one continues in ~other. If it is promoted again, its series continue
 * from their last values. Counters of failures begin at 0 instead, so that their series appear with
 * a new failure. A workload that has ended begins at 0, too.
 *
 * Most series belong to the workloads that were there first. A workload near a limit, or with a
 * failed call, takes the place of the idlest workload.
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

/* A workload that uses this share of a limit is urgent. */
#define URGENT_SHARE 0.8
/* Each update reads the task limits (pids.max) of a workload that uses this share of one. */
#define TASKS_WATCHED_SHARE 0.5
#define TASKS_READ_MAX	    256 /* maximum number of workloads whose limits an update reads */
/* For this time, a workload that was urgent has priority for series of its own. */
#define URGENT_NS (300 * 1000000000ULL)
/* One of this many series is kept for urgent workloads, which may take it from an idle one. */
#define URGENT_EACH 4
/*
 * A program outside of containers and units gets own series only if one of its processes lives for
 * this time, or if limits.min_age_ns is 0.
 */
#define LASTING_NS 1000000000ULL

/* What the cgroups of a workload say about their limits of tasks (pids.max). */
struct census_tasks {
	double share;	  /* highest share of a limit, 0 to 1; 0: no limit */
	uint64_t refused; /* number of forks that failed at a limit */
};

struct census_workload {
	struct table_link link;
	struct identity id; /* identity of one of the workload's processes */
	/* true: all processes have this `id`; false: only kind, name and namespace are equal */
	bool one;
	/* true: in all processes, pod and pod_uid (container) are equal to those of `id` */
	bool one_pod, one_container;
	bool own;			  /* the workload has series of its own */
	bool active;			  /* the workload has a live process */
	uint64_t gauge[NR_CENSUS_GAUGES]; /* sums over live processes at the last update */
	/*
	 * events of the workload's own series, and all events since the last update, which then
	 * stay here or move to ~other
	 */
	uint64_t counter[NR_CENSUS_COUNTERS];
	double pressure; /* priority for own series: see judge() in census.c */
	/*
	 * the workload is near a limit, or a call failed or a process was killed, in the last
	 * URGENT_NS
	 */
	bool urgent;

	/* The members from `memory` on are private to census.c. */
	double memory;	    /* highest share of a memory limit since the last update, 0 to 1 */
	struct census_tasks tasks; /* as last read */
	bool tasks_known;	   /* `tasks` was read */
	bool tasks_refused;	   /* a fork failed at a limit since the last update */
	uint32_t threads, threads_read; /* threads of live processes, now and at the last reading */
	/* the process of the workload that has most threads: its cgroup is read */
	uint32_t pid, pid_threads;
	double activity;    /* page faults at recent updates: see judge() */
	uint64_t urgent_ns; /* last time at which the workload was found to be urgent; 0: never */
	bool displaced_another; /* it took the place of an idle workload, and is still urgent */
	bool lasting;		/* a process of it lived for LASTING_NS */
	uint64_t shown[NR_CENSUS_COUNTERS];	   /* last exported value of each own series */
	uint64_t first_ns, last_ns;		   /* first start and last record of a process */
	uint64_t stall_ns, failures;		   /* total stall time, total number of failures */
	uint64_t stall_before_ns, failures_before; /* stall_ns and failures at the last update */
	bool limited, represented, mixed, mixed_pod, mixed_container;
	uint32_t pod, container; /* hashes of pod and pod_uid, and of container, of `id` */
	uint32_t refs; /* number of entries in census.processes of this workload */
};

struct census_limits {
	uint32_t workloads; /* maximum number of workloads with their own series; default 50 */
	uint32_t series;    /* maximum number of series of the exporter; default 5000 */
	/* Number of series that do not belong to workloads; they count towards `series`. */
	uint32_t series_else;
	/* Number of series of each workload, without the counters that census_is_rare() tells. */
	uint32_t series_each;
	uint32_t series_of_other; /* number of series of ~other, without counters that are rare */
	bool zeros;		  /* workloads have sparse counters before their first event, too */
	uint64_t min_age_ns;	  /* minimum age of a workload with its own series; default 30 s */
	uint64_t retention_ns;	  /* how long series stay after the last process; default 5 min */
};

struct census {
	struct census_limits limits;
	/* Reads the limits of tasks of a process, or of a cgroup's path; NULL: cannot be read. */
	struct census_tasks (*read_tasks)(void *ctx, uint32_t pid, const char *path);
	void *tasks_ctx;
	struct census_workload *own[CENSUS_WORKLOADS_MAX]; /* workloads with own series, by age */
	struct census_workload other;			   /* sums over all other workloads */
	uint32_t owned;
	/* number of workloads that are old enough for series, but have none for lack of room */
	uint32_t folded;
	uint32_t series;	 /* current number of series of workloads and of `other` */
	uint64_t series_limited; /* number of series dropped because of limits.series */
	uint64_t processes_lost; /* number of process records dropped because the table was full */
	/*
	 * How often a new workload was counted in `other`, because there were already
	 * CENSUS_WORKLOADS_MAX workloads.
	 */
	uint64_t workloads_lost;

	struct pids processes; /* table of struct census_process */
	uint32_t ended;	       /* number of entries in `processes` whose process has exited */
	struct table workload; /* table of workloads by name; it owns its entries */
	uint32_t workloads;
	uint64_t updated_ns;
	bool swept;    /* idle workloads were removed since the last census_update() */
	uint32_t made; /* number of workloads created since idle ones were last removed */
};

/* census_init() returns 0 or -ENOMEM. */
int census_init(struct census *c, const struct census_limits *limits);
void census_free(struct census *c);

/*
 * Counts the events in a process's current record, or with PROC_FINAL its last one. The caller may
 * skip unchanged processes. Returns -ENOMEM if the record is dropped and counted as lost.
 */
int census_take(struct census *c, const struct process_record *r, const struct identity *id,
		uint64_t now_ns);

/*
 * Removes a process that has exited without a last record. Pass no record of this process later,
 * because all its events would be counted twice.
 */
void census_gone(struct census *c, const struct process_key *of);

/*
 * Iterates over processes that seem to be alive, so that the caller can find those whose exit event
 * was lost. Start with *at = 0. Returns false after the last process. `*ret_told_ns` is the time of
 * the process's last record.
 */
bool census_each(const struct census *c, uint32_t *at, struct process_key *ret,
		 uint64_t *ret_told_ns);

/*
 * Returns the workload of a live process, or NULL. If `start_ns` of `of` is 0, any process with
 * this pid is meant. The workload belongs to the census; it stays until the next census_update().
 */
const struct census_workload *census_workload_of(const struct census *c,
						 const struct process_key *of);

/*
 * Adds `n` to a counter of a process's workload. If the process is unknown, adds `n` to the
 * workload `id`, or to ~other if `id` is NULL.
 */
void census_count(struct census *c, const struct process_key *of, const struct identity *id,
		  enum census_counter counter, uint64_t n, uint64_t now_ns);

/*
 * Notes that a cgroup uses this share (0 to 1) of its memory limit: it counts for workloads in the
 * cgroup `path` and below it, until the next update. The path starts with '/'.
 */
void census_memory(struct census *c, const char *path, double share);

/*
 * Sums, promotes, expires and demotes workloads; call it before each output. Gauges are sums over
 * live processes. `max_map_count` is used for the pressure value; 0: not known.
 */
void census_update(struct census *c, uint64_t now_ns, uint64_t max_map_count);

/* Returns whether a workload has a series of a counter only if its value is above 0. */
bool census_is_rare(const struct census *c, const struct census_workload *w,
		    enum census_counter counter);

/* Returns the number of series of a workload: the common ones, and rare counters above 0. */
uint32_t census_series(const struct census *c, const struct census_workload *w);

#endif
