/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the counters of a process without those that are 0. Most counters are: a host that starts
 * thousands of processes in a window would otherwise take 3.5 KB for each of them.
 */
#ifndef FS_MODEL_SPARSE_COUNTERS_H
#define FS_MODEL_SPARSE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/records.h"

#define SPARSE_GROUP 8 /* counters that are kept or left out together */

struct sparse_counters {
	uint64_t groups; /* bit n: group n has a counter that is not 0 */
	uint64_t counter[];
};

/* Stores a copy of `c` in *to, which it allocates again if necessary. Returns 0 or -ENOMEM. */
int sparse_store(struct sparse_counters **to, const struct counters *c);

/* Makes *to a copy of `from`. Returns 0 or -ENOMEM. */
int sparse_copy(struct sparse_counters **to, const struct sparse_counters *from);

/* Returns the size of the counters in bytes. */
size_t sparse_bytes(const struct sparse_counters *s);

/* Stores the counters that are not 0 in `zeros`, which must be all 0, and returns `zeros`. */
const struct counters *sparse_read(const struct sparse_counters *s, struct counters *zeros);

/* Returns whether the group of counter number i has a counter that is not 0. */
static inline bool sparse_has_group(const struct sparse_counters *s, size_t i)
{
	return s->groups >> i / SPARSE_GROUP & 1;
}

/* Returns the counter at this offset of struct counters. */
uint64_t sparse_counter(const struct sparse_counters *s, size_t at);

#endif
