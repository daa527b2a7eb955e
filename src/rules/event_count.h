/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: how often an event happened. The BPF programs merge equal events into one record with a
 * count. Events that follow the last record increase only the counter of the process.
 */
#ifndef FS_RULES_EVENT_COUNT_H
#define FS_RULES_EVENT_COUNT_H

#include "rules/rules.h"

/* Names of the evidence fields that hold a number of events. */
#define REFUSED_CALLS	   "refused_calls"
#define KERNEL_FAULT_TIMES "times"

/*
 * Stores the count of the record when a failed call, or a bad memory access by the kernel, is
 * judged.
 */
void event_count_refused(struct findings *fs, const struct refused_record *r);
void event_count_kernel_fault(struct findings *fs, const struct kernel_fault_record *r);

/* After a scan: updates the number of events in a finding from the process's counter. */
void event_count_complete(const struct findings *fs, const struct model *m, struct finding *f);

#endif
