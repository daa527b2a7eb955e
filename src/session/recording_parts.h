/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session: cuts a recording in two at a moment. */
#ifndef FS_SESSION_RECORDING_PARTS_H
#define FS_SESSION_RECORDING_PARTS_H

#include <stdint.h>

/*
 * Copies a recording: what came before `at_ns` (CLOCK_MONOTONIC, as in its records) to the file
 * `before`, and the rest to the file `after`, which begins with the state at that time. Both are
 * open files, which stay open. Returns 0 or an exit status, with the error printed.
 */
int recording_cut(const char *path, uint64_t at_ns, int before, int after);

#endif
