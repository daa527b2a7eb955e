/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: sums and peaks over all processes, including those that have exited. */
#ifndef FS_MODEL_TOTALS_H
#define FS_MODEL_TOTALS_H

#include "model/model.h"

/* Returns whether counter i is a peak value, which must not be added or subtracted. */
bool counter_is_highest(size_t i);

/* Adds the current values of a process to the totals. */
void totals_add(struct totals *t, const struct model *m, const struct subject *s);

#endif
