/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session: copies a part of a recording. */
#ifndef FS_SESSION_RECORDING_PARTS_H
#define FS_SESSION_RECORDING_PARTS_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/moment.h"
#include "probe/recording.h"

/*
 * Copies the records from `from_ns` to `to_ns` (CLOCK_MONOTONIC, as in the records) to the open
 * file `fd`, which stays open. The copy begins with the state at `from_ns`, so that its counters
 * begin at 0 there. A `from_ns` before the first scan copies from the beginning. What the recording
 * lacks up to the end of the part, because it is damaged or cut off, is added to `gaps`
 * (render/completeness.h). Returns 0 or an exit status, with the error printed.
 */
int recording_part(const char *path, uint64_t from_ns, uint64_t to_ns, int fd, struct buf *gaps);

/*
 * Copies the part between two moments to a new file without a name, and returns its descriptor,
 * which the caller closes. A moment that is not given is the beginning or the end. Returns a
 * negative exit status on failure, with the error printed: also if no scan is in the part. `gaps`
 * is as for recording_part().
 */
int recording_part_open(const char *path, const struct moment *from, const struct moment *to,
			struct buf *gaps);

/* Adds what reading of a recording has found to be damaged or cut off, if anything. */
void recording_gaps(const struct replay_facts *f, struct buf *gaps);

#endif
