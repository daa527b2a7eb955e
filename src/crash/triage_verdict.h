/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the verdict on logs. Each function returns an exit status. */
#ifndef FS_CRASH_TRIAGE_VERDICT_H
#define FS_CRASH_TRIAGE_VERDICT_H

#include "blackbox/scan.h"
#include "cli/options.h"
#include "crash/triage_files.h"

/* `gaps` are those of measurements besides the log; NULL: only the log is analysed. */
int triage_judge(const struct options *o, const struct view *v, const struct triage_files *f,
		 const struct bb_found *recorded, const struct buf *gaps);

/*
 * Analyses a log text with the records of the same time. `gaps` lists what is missing of it
 * (render/completeness.h). An empty log is not analysed.
 */
int triage_text_of_log(const struct options *o, const struct buf *log,
		       const struct bb_found *recorded, const struct buf *gaps);

#endif
