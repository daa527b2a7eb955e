/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: findings about page faults that wait, by class of the fault. Times are shares of one
 * thread's time. If several threads wait, their shares are added up.
 */
#ifndef FS_RULES_STALL_RULES_H
#define FS_RULES_STALL_RULES_H

#include "rules/rules.h"

/*
 * Stores the length of the last window in seconds. Returns false if the process has no data for it.
 */
bool stall_window(const struct occasion *o, double *ret_s);

/*
 * Keeps an open finding open for 10 s after its condition was last true. Returns false when these
 * 10 s are over.
 */
bool stall_held(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * Fills a finding whose condition is true. The finding is a warning if its condition has been true
 * for `lasts_ns` without a gap. Otherwise it is INFO, because the start of a program, or one burst
 * of work, looks the same.
 */
void stall_begin(const struct occasion *o, const struct finding *open, uint64_t lasts_ns,
		 struct finding *f);

/*
 * Adds evidence to finding P05 swap-thrashing: the process that waits most for pages from swap, if
 * such waits are measured.
 */
void stall_say_swap(struct finding *f, const struct model *m);

#endif
