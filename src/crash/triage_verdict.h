/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The verdict on logs that were read, printed. Each returns an exit status. */
#ifndef FS_CRASH_TRIAGE_VERDICT_H
#define FS_CRASH_TRIAGE_VERDICT_H

#include "blackbox/scan.h"
#include "cli/options.h"
#include "crash/triage_files.h"

/* `gaps` of what was measured beside the log; NULL: the log is all that is judged. */
int triage_judge(const struct options *o, const struct view *v, const struct triage_files *f,
		 const struct bb_found *recorded, const struct buf *gaps);

/* The verdict on a log at hand, with the records of the same time. `gaps` has what was not seen of
 * it (render/completeness.h); a log without a line is none. */
int triage_text_of_log(const struct options *o, const struct buf *log,
		       const struct bb_found *recorded, const struct buf *gaps);

#endif
