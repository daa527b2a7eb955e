/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session: copies a part of a recording. */
#ifndef FS_SESSION_RECORDING_PARTS_H
#define FS_SESSION_RECORDING_PARTS_H

#include <stdint.h>

#include "cli/moment.h"

/*
 * Copies the records from `from_ns` to `to_ns` (CLOCK_MONOTONIC, as in the records) to the open
 * file `fd`, which stays open. The copy begins with the state at `from_ns`, so that its counters
 * begin at 0 there. A `from_ns` before the first scan copies from the beginning. Returns 0 or an
 * exit status, with the error printed.
 */
int recording_part(const char *path, uint64_t from_ns, uint64_t to_ns, int fd);

/*
 * Copies the part between two moments to a new file without a name, and returns its descriptor,
 * which the caller closes. A moment that is not given is the beginning or the end. Returns a
 * negative exit status on failure, with the error printed: also if no scan is in the part.
 */
int recording_part_open(const char *path, const struct moment *from, const struct moment *to);

#endif
