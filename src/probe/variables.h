/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe: finds the addresses of kernel variables that hold limits. Reads them from /proc/kallsyms.
 */
#ifndef FS_PROBE_VARIABLES_H
#define FS_PROBE_VARIABLES_H

#include <stddef.h>

#include "records/records.h"

/*
 * Fills addresses of variables. An address is 0 if the name is missing, ambiguous, or hidden from
 * faultscope.
 */
void variables_find(__u64 ret[NR_VARIABLES]);

/* Fills addresses from a table in the format of kallsyms; its last line may be incomplete. */
void variables_parse(const char *table, size_t size, __u64 ret[NR_VARIABLES]);

#endif
