/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what the faults of a process wait for, by their classes. Shares are of the time of one
 * thread: of several that wait at once they add up.
 */
#ifndef FS_RULES_STALL_RULES_H
#define FS_RULES_STALL_RULES_H

#include "rules/rules.h"

/* The seconds of the last window; false: nothing is known of the process in it. */
bool stall_window(const struct occasion *o, double *ret_s);

/* Goes on to say what is open, for a while after it last held. */
bool stall_held(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * It holds: a warning, once it was seen for `lasts_ns` on end; before that the start of a program,
 * or one burst of work, looks the same, and it is INFO.
 */
void stall_begin(const struct occasion *o, const struct finding *open, uint64_t lasts_ns,
		 struct finding *f);

/* Evidence for swap thrash: who waits most for pages from swap, where that is measured. */
void stall_say_swap(struct finding *f, const struct model *m);

#endif
