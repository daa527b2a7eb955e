/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* doctor: fills the report from the states of the probes, the first scan and the measured costs. */
#ifndef FS_SESSION_DOCTOR_FACTS_H
#define FS_SESSION_DOCTOR_FACTS_H

#include "cli/options.h"
#include "render/doctor_report.h"
#include "session/calibrate.h"

/* What the first scan found. */
struct doctor_scan {
	size_t processes;
	uint32_t map_count_high;
	uint64_t tables_bytes, state_bytes;
};

/* Takes a record of the first scan; `ctx` is a struct doctor_scan. Returns 0. */
int doctor_take_scan(void *ctx, const struct record *h);

/* Fills the probes of a live source. */
void doctor_fill_hooks(struct report *r, const struct options *o, const struct source *src);

/* Fills what was measured, and then the advice. Call it when settings and origins are known. */
void doctor_fill_measured(struct report *r, const struct calibration *c,
			  const struct doctor_scan *look);

/* Returns whether a probe is unavailable without which faultscope does not work. */
bool doctor_lacks_core(const struct report *r);

/*
 * Adds the unavailable probes to the gaps (reasons why the result is incomplete), unless the user
 * disabled them. Probes of the flight recorder do not count: `triage --live` and `blackbox` report
 * them.
 */
void doctor_add_gaps(struct buf *gaps, const struct report *r);

#endif
