/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: how often an event happened. The kernel side folds equal events into one record, and what
 * comes after the last record shows only in the counter of the process.
 */
#ifndef FS_RULES_EVENT_COUNT_H
#define FS_RULES_EVENT_COUNT_H

#include "rules/rules.h"

/* The fields of the evidence. */
#define REFUSED_CALLS	   "refused_calls"
#define KERNEL_FAULT_TIMES "times"

/* Takes each refusal, and each bad access of the kernel, that is judged. */
void event_count_refused(struct findings *fs, const struct refused_record *r);
void event_count_kernel_fault(struct findings *fs, const struct kernel_fault_record *r);

/* After a scan: brings the evidence of a finding up to the counter. */
void event_count_complete(const struct findings *fs, const struct model *m, struct finding *f);

#endif
