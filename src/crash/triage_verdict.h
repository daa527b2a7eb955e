/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the diagnosis of logs. Each function returns an exit status. */
#ifndef FS_CRASH_TRIAGE_VERDICT_H
#define FS_CRASH_TRIAGE_VERDICT_H

#include "blackbox/scan.h"
#include "cli/options.h"
#include "crash/triage_files.h"

/*
 * Analyses logs. `gaps` lists data that may be missing from them. If `gaps` is NULL, the function
 * itself finds the gaps of the logs.
 */
int triage_judge(const struct options *o, const struct view *v, const struct triage_files *f,
		 const struct bb_found *recorded, const struct buf *gaps);

/*
 * Analyses the text of a log and the records of the same time. `gaps` lists data that may be
 * missing (render/completeness.h); an empty log is no gap.
 */
int triage_text_of_log(const struct options *o, const struct buf *log,
		       const struct bb_found *recorded, const struct buf *gaps);

#endif
