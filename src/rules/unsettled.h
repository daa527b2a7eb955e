/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: refusals that a program may yet answer by another request. They are kept until that is
 * seen, the process ends, or it can be seen no more: over the end of an interval too.
 */
#ifndef FS_RULES_UNSETTLED_H
#define FS_RULES_UNSETTLED_H

#include "rules/rules.h"

/* After so long another request would have been seen: its record may come late, as all may. */
#define UNSETTLED_NS (2 * RETRY_NS)

/* Whether a refusal may be answered by another request in another form, and was not yet. */
bool unsettled_is(const struct model *m, const union event *e);

/*
 * At the end of an interval: keeps a copy of such a refusal that is younger than UNSETTLED_NS and
 * whose process lives. False: it is to be judged now, or there is no room.
 */
bool unsettled_keep(struct findings *fs, const struct model *m, const union event *e);

/*
 * Hands out one that is to be judged now, marked where it was answered: false when there is none.
 * `all`: those that still may be answered too.
 */
bool unsettled_next(struct findings *fs, const struct model *m, bool all, union event *ret);

#endif
