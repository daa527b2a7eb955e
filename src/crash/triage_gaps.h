/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What triage may have missed in the logs that it was given. */
#ifndef FS_CRASH_TRIAGE_GAPS_H
#define FS_CRASH_TRIAGE_GAPS_H

#include "triage/triage.h"
#include "crash/triage_files.h"

/*
 * Appends the gaps (render/completeness.h) of a log that was judged: nothing in it to read, bytes
 * that are no text, lines beyond the caps, messages that the kernel itself dropped. `records` is
 * how many records of the flight recorder the files held. Ask before the files are freed.
 */
void triage_gaps_of(struct buf *gaps, const struct triage_files *f, const struct triage *t,
		    size_t records);

#endif
