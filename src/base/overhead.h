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

/* Frequent events of all processes of the host, also of those that are not watched */
#define AT_FAULTS    1u
#define AT_MAPPINGS  2u
#define AT_SIGNALS   4u
#define AT_LOCKS     8u
#define AT_CALLS     16u /* all system calls */
#define AT_FEW_CALLS 32u /* only the system calls that faultscope counts */
#define AT_SWITCHES  64u /* each switch between processes */

/*
 * Returns the AT_* bits of the events at which a probe runs. Its attach type decides whether it
 * runs at few calls only (`few_calls`), and whether it also runs at switches.
 */
unsigned int overhead_events_of(const char *probe, bool few_calls, bool switches);

/* Writes the events of AT_* bits. Returns buf, which is empty if there are none. */
const char *overhead_for_others_text(unsigned int at, char *buf, size_t size);

/*
 * Writes what is not measured without the levels that are missing in `levels`, of those that users
 * can choose. Returns buf.
 */
const char *overhead_unmeasured_text(unsigned int levels, char *buf, size_t size);

/* Writes the names of the levels, such as "scan, events", to buf. Returns buf. */
const char *overhead_levels_text(unsigned int levels, char *buf, size_t size);

#endif
