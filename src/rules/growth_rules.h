/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: of which kinds the mappings and file descriptors of a process are, and which code created
 * them. The data come from the list of its mappings and fds if it was read, else from what its
 * calls added while it was watched.
 */
#ifndef FS_RULES_GROWTH_RULES_H
#define FS_RULES_GROWTH_RULES_H

#include "rules/rules.h"

/*
 * Adds evidence to a finding about a count: the largest groups by name, and the stack of the
 * largest.
 */
void growth_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		     enum what what);

/* Adds the innermost frames of a stack as evidence, if they are known. */
void stack_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		    int32_t stack);

#endif
