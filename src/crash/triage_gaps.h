/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports what triage may have missed in the logs that it read. */
#ifndef FS_CRASH_TRIAGE_GAPS_H
#define FS_CRASH_TRIAGE_GAPS_H

#include "triage/triage.h"
#include "crash/triage_files.h"

/*
 * Appends the gaps (render/completeness.h) of a log that was analysed. A gap is an input without
 * readable text, bytes that are not text, lines above the maximum, or messages that the kernel
 * dropped. `records` is the number of flight-recorder records in the files. Call this before the
 * files are freed.
 */
void triage_gaps_of(struct buf *gaps, const struct triage_files *f, const struct triage *t,
		    size_t records);

/* Returns whether data is text: few bytes are control characters or invalid UTF-8. */
bool triage_is_text(const char *data, size_t size);

/* Returns whether any input has text, or there are records. Otherwise, no verdict is possible. */
bool triage_has_text(const struct triage_files *f, const struct triage *t, size_t records);

#endif
