/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* doctor: measures the overhead of probes by timing work with different sets of probes attached. */
#ifndef FS_SESSION_CALIBRATE_H
#define FS_SESSION_CALIBRATE_H

#include "base/cost.h"
#include "probe/live.h"

#define COSTS_MAX 24
#define OVERHEADS_MAX 16

struct calibration {
	struct {
		const char *hook;
		int work; /* row number in calibrate.def; -1: the overhead is not measured */
		struct cost cost;
	} row[COSTS_MAX];
	size_t rows;
	/* What `faultscope -p` adds to an event. */
	struct {
		const char *event, *title; /* as in calibrate_rows.def */
		bool watched; /* the watched process does the work; false: another process does */
		struct cost cost;
	} overhead[OVERHEADS_MAX];
	size_t overheads;
	bool done; /* false: each row holds the reason why its overhead was not measured */
	double seconds;
	unsigned int rounds;
};

/*
 * Measures the overhead of all probes. Before the call, open `src` with `opt`, watch all processes,
 * and scan once. `processes` is the number of processes that the scan found. After the call, the
 * probes of `src` are detached. calibrate() always succeeds: a row that could not be measured holds
 * the reason.
 */
void calibrate(struct calibration *ret, const struct live_options *opt, struct source *src,
	       size_t processes);

/* Fills all rows with the reason `why` instead of a measurement. */
void calibrate_not(struct calibration *ret, const struct source *src, const char *why);

#endif
