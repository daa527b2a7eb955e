/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: names of the overhead levels of probes. Sets of levels are bit masks: bit i is level i. */
#ifndef FS_BASE_OVERHEAD_H
#define FS_BASE_OVERHEAD_H

#include <stddef.h>

#define NR_OVERHEAD_LEVELS 4

const char *overhead_level_name(unsigned int level);

/* Returns the level with that name or number, or -1. */
int overhead_level_find(const char *word);

/* Writes the names of the levels, such as "scan, events", to buf. Returns buf. */
const char *overhead_levels_text(unsigned int levels, char *buf, size_t size);

#endif
