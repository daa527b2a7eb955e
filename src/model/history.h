/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: stores a whole measurement for reports: values over time, the last values of every
 * process, and events. Memory is bounded. If there are more scans than points, scans are merged. If
 * there are more processes than rows, ended processes with the fewest faults are summed in one row,
 * so that totals stay exact.
 */
#ifndef FS_MODEL_HISTORY_H
#define FS_MODEL_HISTORY_H

#include "model/history_levels.h"
#include "model/model.h"
#include "model/resources.h"

#define HISTORY_ROWS_MAX   4096	    /* maximum number of rows, unless more processes are alive */
#define HISTORY_OTHERS	   "~other" /* name of the row that sums dropped processes */
#define HISTORY_EVENTS_MAX 512

#define HISTORY_GAUGES_MAX 8 /* maximum number of fields that are summed over processes */

struct field;

/* Sums over all processes: events in a time span, and the peaks of gauges in it. */
struct history_point {
	uint64_t from_ns, to_ns;
	uint64_t minor, major, stall_ns, failed;
	uint64_t events; /* number of failed calls, threshold crossings, signals and OOM kills */
	uint64_t processes;
	uint64_t gauge[HISTORY_GAUGES_MAX]; /* peak of each sum, in the order of history.gauge */
	uint64_t latency[NR_ENDS][NR_LATENCY];
};

/* Last values of a process. The row `~other` has sums of the counters of dropped processes. */
struct history_row {
	uint64_t processes; /* number of processes in the row; more than 1 only in `~other` */
	struct process_key id;
	uint32_t ppid, uid;
	char comm[COMM_LEN];
	char *exe, *cgroup; /* paths, owned by the row; NULL: not known */
	uint64_t first_ns, last_ns;
	bool final;
	int32_t signal;
	bool matters;	 /* has a failed mapping call or a fatal signal: dropped after other rows */
	uint64_t *value; /* values in the order of fields[]; ~0 if !known[i]: null */
	bool *known;
	uint32_t *faults; /* number of page faults by point; NULL: no faults */
	uint64_t faults_before;
	uint64_t stall_ns[NR_ENDS];
	uint64_t first_count[2]; /* number of mappings and of fds at the first scan */
	/* recent values of resources, and their limits; NULL if a value is far from its limit */
	struct series *series[NR_PROCESS_RESOURCES];
	uint64_t limit[NR_PROCESS_RESOURCES];
	struct holdings held[2];
	uint32_t next; /* index + 1 of the next row in the hash chain; 0: this row is the last */
};

struct history {
	const struct field *gauge[HISTORY_GAUGES_MAX]; /* fields with `sum`, ordered as fields[] */
	size_t gauges;
	struct history_point *point;
	size_t points;
	unsigned int scans_per_point; /* number of scans in each complete point */
	unsigned int scans_in_last;   /* number of scans in the last point so far */
	uint64_t looks;
	struct history_row *row;
	size_t rows, rows_room;
	size_t others; /* index + 1 of the row `~other`; 0: no such row */
	/*
	 * number of processes whose counters are in `~other`, and of those above HISTORY_ROWS_LIMIT
	 */
	uint64_t rows_lost;
	uint64_t beyond; /* processes above HISTORY_ROWS_LIMIT, whose counters are in no sum */
	size_t ended;	 /* number of rows whose process has exited */
	uint32_t *bucket;
	union event *event;
	size_t events;
	uint64_t events_lost;
	uint64_t last_ns;
	uint64_t wall_last_ns;
	uint64_t gauge_now[HISTORY_GAUGES_MAX], alive; /* present sums over live processes */
	uint64_t latency[NR_ENDS][NR_LATENCY], latency_max_ns[NR_ENDS];
	uint64_t faults_kind[NR_FAULT_KINDS];
	struct history_levels levels;
	/* Called before a row is added to `~other`, or not kept at all; NULL: nobody needs it. */
	void (*drop)(void *ctx, const struct history_row *r);
	void *drop_ctx;
};

/* history_init() returns 0 or -ENOMEM. */
int history_init(struct history *h);
void history_free(struct history *h);

/* Adds a scan; call it before model_next_window(). Returns 0 or -ENOMEM. */
int history_add_scan(struct history *h, const struct model *m);

/*
 * Adds the mappings and fds of processes, which are read after the last scan. Returns 0 or -ENOMEM.
 */
int history_end(struct history *h, const struct model *m);

const struct history_row *history_find(const struct history *h, const struct process_key *id);

/* Returns the row `~other`, or NULL if no process was dropped. */
static inline const struct history_row *history_others(const struct history *h)
{
	return h->others ? &h->row[h->others - 1] : NULL;
}

/* Returns a field's value; 0 if it is unknown. */
uint64_t history_field(const struct history_row *r, const struct field *f);

/* Returns a rate per second: `n` events in the time span of point `p`. */
double history_rate(const struct history_point *p, uint64_t n);

/* Returns the sum of a counter over all processes. */
uint64_t history_total(const struct history *h, const struct field *f);

/* history_processes() counts all processes seen, history_ended() those that have exited. */
uint64_t history_processes(const struct history *h);
uint64_t history_ended(const struct history *h);

/* Returns the number of minor and major faults of a process. */
uint64_t history_faults(const struct history_row *r);

#endif
