/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: names of the overhead levels of probes. Sets of levels are bit masks: bit i is level i. */
#ifndef FS_BASE_OVERHEAD_H
#define FS_BASE_OVERHEAD_H

#include <stdbool.h>
#include <stddef.h>

#define NR_OVERHEAD_LEVELS  5
#define NR_OVERHEAD_OPTIONS 4 /* the last level is only for the command `memory` */

#define OVERHEAD_LOW 0x3u /* scan and events: no probe at system calls or at the end of faults */
#define OVERHEAD_ALL 0xfu

const char *overhead_level_name(unsigned int level);

/* Returns the level with that name or number that users can choose, or -1. */
int overhead_level_find(const char *word);

/* Returns the levels that a word for a set names ("low" or "all"), or 0. */
unsigned int overhead_set_find(const char *word);

/*
 * Writes the events at which a probe of these levels runs in every process of the host, also in
 * processes that are not watched. `spares_calls`: only some system calls are such events. Returns
 * buf, which is empty if there are none.
 */
const char *overhead_for_others_text(unsigned int levels, bool spares_calls, char *buf,
				     size_t size);

/*
 * Writes what is not measured without the levels that are missing in `levels`, of those that users
 * can choose. Returns buf.
 */
const char *overhead_unmeasured_text(unsigned int levels, char *buf, size_t size);

/* Writes the names of the levels, such as "scan, events", to buf. Returns buf. */
const char *overhead_levels_text(unsigned int levels, char *buf, size_t size);

#endif
