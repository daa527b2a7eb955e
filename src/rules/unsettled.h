/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: failed calls that a program may still repeat with success in another form. Such a call is
 * kept, also beyond the end of an interval, until a repetition is seen, the process ends, or
 * UNSETTLED_NS is over.
 */
#ifndef FS_RULES_UNSETTLED_H
#define FS_RULES_UNSETTLED_H

#include "rules/rules.h"

/* Within this time the record of a successful repetition arrives, even if it is late. */
#define UNSETTLED_NS (2 * RETRY_NS)

/* Returns true if the event is a failed call that may still succeed in another form. */
bool unsettled_is(const struct model *m, const union event *e);

/*
 * At the end of an interval: keeps a copy of a failed call that may still succeed in another form,
 * if it is younger than UNSETTLED_NS and its process lives. Returns false if the call must be
 * judged now, or if there is no room.
 */
bool unsettled_keep(struct findings *fs, const struct model *m, const union event *e);

/*
 * Stores in *ret a kept call that must be judged now, with FACT_RETRIED if the program repeated it
 * with success. With `all`, calls whose outcome is not known count too. Returns false if there is
 * none.
 */
bool unsettled_next(struct findings *fs, const struct model *m, bool all, union event *ret);

#endif
