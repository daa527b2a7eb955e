/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: failed calls that the program may still repeat with success in another form, for example
 * with a smaller size. Such a call is kept until a repetition is seen, the process ends, or
 * UNSETTLED_NS is over. It may be kept beyond the end of the interval.
 */
#ifndef FS_RULES_UNSETTLED_H
#define FS_RULES_UNSETTLED_H

#include "rules/rules.h"

/* ns; the record of a successful repetition arrives within this time, even if it is late */
#define UNSETTLED_NS (2 * RETRY_NS)

/* Returns true if the event is a failed call that the program may still repeat with success. */
bool unsettled_is(const struct model *m, const union event *e);

/*
 * Called at the end of an interval. Keeps a copy of a failed call that the program may still repeat
 * with success. The call must be younger than UNSETTLED_NS, and its process must live. Returns
 * false if the call must be judged now, or if the table is full.
 */
bool unsettled_keep(struct findings *fs, const struct model *m, const union event *e);

/*
 * Stores in *ret a kept call that must be judged now. FACT_RETRIED is set in the copy if the
 * program repeated the call with success. With `all`, also returns calls that may still be
 * repeated. Returns false if there is no such call.
 */
bool unsettled_next(struct findings *fs, const struct model *m, bool all, union event *ret);

#endif
