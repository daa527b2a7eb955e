/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: limits that several processes share, of a user or of a cgroup: one of them speaks for all,
 * the one that has the most.
 */
#ifndef FS_RULES_SHARED_LIMITS_H
#define FS_RULES_SHARED_LIMITS_H

#include "rules/rules.h"

/* Whether this process is the one to speak of a resource; of its own ones each is. */
bool limit_is_told_of(const struct occasion *o, const struct finding *open,
		      enum resource_id resource);

/*
 * Whether one that has ended said the same of a limit that it shared with this process, and no
 * less: of its last moments each of its processes would say it once more. Marks `f` with the limit.
 */
bool limit_was_told_of(const struct occasion *o, struct finding *f, enum resource_id resource);

/* Evidence of a shared one: what of it is this process's own. */
void limit_share_evidence(struct finding *f, const struct occasion *o, enum resource_id resource);

#endif
