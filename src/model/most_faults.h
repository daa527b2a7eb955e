/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: the few processes with the most page faults, including those that have exited. */
#ifndef FS_MODEL_MOST_FAULTS_H
#define FS_MODEL_MOST_FAULTS_H

#include "model/model.h"

void fault_totals_add(struct fault_totals_table *t, const struct model *m, const struct subject *s);

#endif
