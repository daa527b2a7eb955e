/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: limits that the processes of a user or of a cgroup share. Such a limit is reported only
 * once: for the process that uses most of it.
 */
#ifndef FS_RULES_SHARED_LIMITS_H
#define FS_RULES_SHARED_LIMITS_H

#include "rules/rules.h"

/*
 * Returns true if this process reports the resource. This is always true if the limit belongs to
 * the process alone.
 */
bool limit_is_told_of(const struct occasion *o, const struct finding *open,
		      enum resource_id resource);

/*
 * Returns true if a process that has ended reported this shared limit with at least the same
 * severity. Without this check, each process of the group would report the limit again when it
 * ends. Stores in `f` which limit it is.
 */
bool limit_was_told_of(const struct occasion *o, struct finding *f, enum resource_id resource);

/* Adds evidence: how much of a shared limit the process itself uses. */
void limit_share_evidence(struct finding *f, const struct occasion *o, enum resource_id resource);

#endif
