/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: where the kernel keeps limits of the machine, by its own table of symbols. */
#ifndef FS_PROBE_VARIABLES_H
#define FS_PROBE_VARIABLES_H

#include <stddef.h>

#include "records/records.h"

/* Addresses; 0 where there is no such name, more than one, or they are hidden from us. */
void variables_find(__u64 ret[NR_VARIABLES]);

/* The same out of a table of that form; `size` bytes of it, which need not end with a line. */
void variables_parse(const char *table, size_t size, __u64 ret[NR_VARIABLES]);

#endif
