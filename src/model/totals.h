/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: sums and peaks over processes, ended ones too. */
#ifndef FS_MODEL_TOTALS_H
#define FS_MODEL_TOTALS_H

#include "model/model.h"

/* Of the counters, by number: a highest value is neither added nor subtracted. */
bool counter_is_highest(size_t i);

/* Adds a process, as it is now. */
void totals_add(struct totals *t, const struct model *m, const struct subject *s);

#endif
