/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: a measurement as a whole, look by look, for what is told of it afterwards: figures over
 * time, every process that was there with its last figures, the events. Bounded: where time has
 * more looks than there are points, looks are joined; where there are more processes than rows,
 * those that ended and faulted least are added up in one row, so that sums over all rows stay
 * exact.
 */
#ifndef FS_MODEL_HISTORY_H
#define FS_MODEL_HISTORY_H

#include "model/model.h"

#define HISTORY_POINTS_MAX 240	    /* even: two become one */
#define HISTORY_ROWS_MAX   4096	    /* more only while more processes live at once */
#define HISTORY_OTHERS	   "~other" /* comm of the row of those that made room */
#define HISTORY_EVENTS_MAX 512

#define HISTORY_GAUGES_MAX 8 /* fields of which a sum over processes is kept */

struct field;

/* Of all processes: what was counted in a span of time, and the highest of sums within it. */
struct history_point {
	uint64_t from_ns, to_ns;
	uint64_t minor, major, stall_ns, failed;
	uint64_t events; /* refusals, crossings, signals, kills */
	uint64_t processes;
	uint64_t gauge[HISTORY_GAUGES_MAX]; /* as `gauge` of struct history */
	uint64_t latency[NR_ENDS][NR_LATENCY];
};

/* A process, as it was last seen; or those that made room, with sums of their counters. */
struct history_row {
	uint64_t processes; /* 1 of an ordinary row */
	struct process_key id;
	uint32_t ppid, uid;
	char comm[COMM_LEN];
	char *exe, *cgroup; /* NULL: not known; owned */
	uint64_t first_ns, last_ns;
	bool final;
	int32_t signal;
	uint64_t *value; /* by row of fields[]; ~0 and !known[i]: null */
	bool *known;
	uint32_t *faults; /* by point: what it faulted then; NULL: never */
	uint64_t faults_before;
	uint64_t stall_ns[NR_ENDS];
	struct series *series[2]; /* by enum what; NULL: far from its limit */
	struct holdings held[2];
	uint32_t next; /* of the chain: 1 + place */
};

struct history {
	const struct field *gauge[HISTORY_GAUGES_MAX]; /* those with a `sum`, in their order */
	size_t gauges;
	struct history_point *point;
	size_t points;
	unsigned int scans_per_point; /* in a whole point */
	unsigned int scans_in_last;   /* in the last one */
	uint64_t looks;
	struct history_row *row;
	size_t rows, rows_room;
	size_t others;	    /* 1 + place of the row of those that made room; 0: none did */
	uint64_t rows_lost; /* processes in that row, and those beyond HISTORY_ROWS_LIMIT */
	uint64_t beyond;    /* of these, processes that are in no row, nor in any sum */
	size_t ended;	    /* rows of processes that ended */
	uint32_t *bucket;
	union event *event;
	size_t events;
	uint64_t events_lost;
	uint64_t last_ns;
	uint64_t wall_last_ns;
	uint64_t gauge_now[HISTORY_GAUGES_MAX], alive; /* sums over all rows that live */
	uint64_t latency[NR_ENDS][NR_LATENCY], latency_max_ns[NR_ENDS];
	uint64_t faults_kind[NR_FAULT_KINDS];
};

/* -ENOMEM. */
int history_init(struct history *h);
void history_free(struct history *h);

/* After a look, before model_next_window(). -ENOMEM. */
int history_add_scan(struct history *h, const struct model *m);

/* At the end: what was read behind the last look. */
int history_end(struct history *h, const struct model *m);

const struct history_row *history_find(const struct history *h, const struct process_key *id);

/* A figure by its row of fields[], or by "group.key"; 0 where it is not known. */
uint64_t history_field(const struct history_row *r, const struct field *f);
uint64_t history_value(const struct history_row *r, const char *field);

/* What was counted in a point, a second. */
double history_rate(const struct history_point *p, uint64_t n);

/* A counter's sum over all processes. */
uint64_t history_total(const struct history *h, const char *field);

/* Processes that were seen; of these, those that ended. */
uint64_t history_processes(const struct history *h);
uint64_t history_ended(const struct history *h);

/* Minor and major faults of a process. */
uint64_t history_faults(const struct history_row *r);

#endif
