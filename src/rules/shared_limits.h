/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: limits that several processes of a user or of a cgroup share. Only the process that uses
 * most of such a limit reports it.
 */
#ifndef FS_RULES_SHARED_LIMITS_H
#define FS_RULES_SHARED_LIMITS_H

#include "rules/rules.h"

/* Returns true if this process reports the resource. Always true for limits of its own. */
bool limit_is_told_of(const struct occasion *o, const struct finding *open,
		      enum resource_id resource);

/*
 * Returns true if a process that has ended reported this shared limit, with the same severity or a
 * higher one: else each process of the group would report it again as it ends. Marks `f` with the
 * limit.
 */
bool limit_was_told_of(const struct occasion *o, struct finding *f, enum resource_id resource);

/* Adds the process's own part of a shared limit as evidence. */
void limit_share_evidence(struct finding *f, const struct occasion *o, enum resource_id resource);

#endif
