/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: how often a call was refused. The kernel side folds equal refusals into one record, and
 * what came behind the last record shows in the counter of the process alone.
 */
#ifndef FS_RULES_REFUSED_COUNT_H
#define FS_RULES_REFUSED_COUNT_H

#include "rules/rules.h"

#define REFUSED_CALLS "refused_calls" /* the field of the evidence */

/* Takes each refusal that is judged. */
void refused_count_take(struct findings *fs, const struct fs_refused_record *r);

/* After a scan: brings the evidence of a finding up to the counter. */
void refused_count_complete(const struct findings *fs, const struct model *m, struct finding *f);

#endif
