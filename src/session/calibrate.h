/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What each hook costs on this machine: measured with hooks attached and detached in turn. */
#ifndef FS_SESSION_CALIBRATE_H
#define FS_SESSION_CALIBRATE_H

#include "base/cost.h"
#include "probe/live.h"

#define COSTS_MAX 24

struct calibration {
	struct {
		const char *hook;
		int work; /* a row of calibrate.def; -1: the overhead is not measured */
		struct cost cost;
	} row[COSTS_MAX];
	size_t rows;
	bool done; /* else every row says why not */
	double seconds;
	unsigned int rounds;
};

/*
 * src: open, with every process watched and looked at once, which found so many; left with all its
 * hooks detached. opt: what it was opened with. Fails in no way but that rows say why they are not
 * measured.
 */
void calibrate(struct calibration *ret, const struct live_options *opt, struct source *src,
	       size_t processes);

/* All rows, with this instead of a measurement. */
void calibrate_not(struct calibration *ret, const struct source *src, const char *why);

#endif
