/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * session: reads which code holds the resident memory of watched processes, with src/resident, and
 * adds the rows to the model. Without the probe `resident`, these functions do nothing, except that
 * the first one notes that the output is incomplete.
 */
#ifndef FS_SESSION_MEMORY_READINGS_H
#define FS_SESSION_MEMORY_READINGS_H

#include "session/session.h"

#define MEMORY_EACH 64 /* one of this many pages is chosen at first */
/* overhead levels that stacks need (0, 1 and 3), and the one that chooses pages (4) */
#define MEMORY_TIERS 0x1bu

/*
 * Opens files of the watched processes, or of the command that was started, while faultscope has
 * the right to see numbers of page frames.
 */
void memory_readings_open(struct session *s);
void memory_readings_open_command(struct session *s);

/*
 * Reads all processes that are watched by their pid. If all processes of the machine are watched,
 * reads those of the model that have most memory, and the one that the live view shows.
 */
void memory_readings_take(struct session *s);

/*
 * Does the same, but begins no reading of a process after `until_ns` (CLOCK_MONOTONIC; 0: no
 * limit).
 */
void memory_readings_take_until(struct session *s, uint64_t until_ns);

/*
 * Chooses pages of a process from now on, before its first reading, if all processes of the machine
 * are watched. Call memory_readings_forget() when it has ended.
 */
void memory_readings_expect(struct session *s, const struct process_key *of);
void memory_readings_forget(struct session *s, const struct process_key *of);

/* Changes a plan, so that its session also chooses and reads pages. */
void memory_readings_plan(struct run_plan *p);

#endif
