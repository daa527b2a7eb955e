/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what the page faults of a process wait for, by fault class. Shares are of the time of one
 * thread: they add up if several threads wait at once.
 */
#ifndef FS_RULES_STALL_RULES_H
#define FS_RULES_STALL_RULES_H

#include "rules/rules.h"

/* Stores the seconds of the last window. Returns false if nothing is known of the process in it. */
bool stall_window(const struct occasion *o, double *ret_s);

/* Keeps an open finding for 10 s after its condition last held. Returns false after that. */
bool stall_held(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * Fills a finding whose condition holds: a warning if it has held for `lasts_ns` without a gap,
 * else INFO, as the start of a program or one burst of work looks the same.
 */
void stall_begin(const struct occasion *o, const struct finding *open, uint64_t lasts_ns,
		 struct finding *f);

/* Adds evidence to swap-thrashing: the process that waits most for pages from swap, if measured. */
void stall_say_swap(struct finding *f, const struct model *m);

#endif
