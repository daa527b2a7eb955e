/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command `triage`: reads, has it judged, prints. */
#ifndef FS_CRASH_TRIAGE_COMMAND_H
#define FS_CRASH_TRIAGE_COMMAND_H

#include "blackbox/scan.h"
#include "cli/options.h"

int command_triage(const struct options *o);

/* The verdict on a log at hand, with the records of the same time. `gaps` has what was not seen of
 * it (render/completeness.h); a log without a line is none. */
int triage_text_of_log(const struct options *o, const struct buf *log,
		       const struct bb_found *recorded, const struct buf *gaps);

#endif
