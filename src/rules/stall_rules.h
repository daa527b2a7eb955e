/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what the page faults of a process wait for, by fault class. Times are shares of one
 * thread's time; the shares of threads that wait at once add up.
 */
#ifndef FS_RULES_STALL_RULES_H
#define FS_RULES_STALL_RULES_H

#include "rules/rules.h"

/*
 * Stores the length of the last window in seconds. Returns false if the process has no data for it.
 */
bool stall_window(const struct occasion *o, double *ret_s);

/* Keeps an open finding for 10 s after its condition last held; false: those 10 s are over. */
bool stall_held(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * Fills a finding whose condition holds: a warning if it has held for `lasts_ns` without a gap,
 * else INFO, because the start of a program or one burst of work looks the same.
 */
void stall_begin(const struct occasion *o, const struct finding *open, uint64_t lasts_ns,
		 struct finding *f);

/* Adds the process that waits most for pages from swap, if measured, to finding swap-thrashing. */
void stall_say_swap(struct finding *f, const struct model *m);

#endif
