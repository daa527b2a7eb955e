/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: finds kernel variables that hold limits of the machine, in the kernel's symbol table. */
#ifndef FS_PROBE_VARIABLES_H
#define FS_PROBE_VARIABLES_H

#include <stddef.h>

#include "records/records.h"

/* Fills addresses; 0 if a name is missing, ambiguous, or hidden from us. */
void variables_find(__u64 ret[NR_VARIABLES]);

/* The same from a table in that format, of `size` bytes; the last line may be incomplete. */
void variables_parse(const char *table, size_t size, __u64 ret[NR_VARIABLES]);

#endif
