/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: phases of the watched program, for example the tests of a test suite. The program says
 * when a phase begins or ends (RECORD_PHASE). A phase has the changes of the totals between its
 * first and last scan, and the peaks of its scans.
 */
#ifndef FS_MODEL_PHASES_H
#define FS_MODEL_PHASES_H

#include "model/fields.h"
#include "model/model.h"
#include "records/pressure_records.h"

#define PHASES_MAX	8192
#define NR_PHASE_VALUES 11

/* Values of all watched processes at a scan. A value that is not measured is FIGURE_UNKNOWN. */
struct phase_sums {
	/* totals since the first scan, which also contain the processes that have ended */
	uint64_t minor, major, failed_calls, stall_ns;
	/* sums over the processes that live */
	uint64_t rss_bytes, swap_bytes, maps, fds;
};

struct phase {
	char name[PHASE_NAME_LEN];
	uint64_t began_ns, ended_ns; /* CLOCK_MONOTONIC; ended_ns of a running phase: last scan */
	struct phase_sums began, ended;
	/* highest sum of the RSS of all processes at a scan of the phase */
	uint64_t rss_peak_bytes;
	/* highest number that a single process had during the phase */
	uint64_t maps_peak, fds_peak;
};

struct phases {
	size_t n;	 /* number of phases, in the order of their start */
	bool runs;	 /* the last phase has not ended */
	uint64_t missed; /* number of phases beyond PHASES_MAX, which have no values */
	struct phase phase[PHASES_MAX];
};

/* A value of a phase, to show, or to compare with a condition of --fail-on. */
struct phase_value {
	const char *name;  /* name in a condition, such as "phase.fds.kept" */
	const char *key;   /* JSON key */
	const char *title; /* title of its column */
	const char *help;
	enum unit unit;
	double scale; /* what 1 means in a condition without a suffix, in units of the value */
	uint64_t (*get)(const struct phase *p); /* FIGURE_UNKNOWN: not measured */
};

extern const struct phase_value phase_values[NR_PHASE_VALUES];

/* Returns the JSON key of a value. */
const char *phase_value_key(size_t i);

/* Returns the duration of a phase in ns. */
uint64_t phase_duration_ns(const struct phase *p);

/* Ends the running phase, and begins the one that the record names. Returns 0 or -ENOMEM. */
int phases_take(struct model *m, const struct phase_record *r);

/* Updates the running phase with the values of a scan. Call it when the model has them all. */
void phases_scan(struct model *m);

#endif
