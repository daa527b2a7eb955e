/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what the mappings and descriptors of a process are, and who made them. By what it holds
 * where that was read, else by what its calls added while it was watched.
 */
#ifndef FS_RULES_GROWTH_RULES_H
#define FS_RULES_GROWTH_RULES_H

#include "rules/rules.h"

/* Evidence for any finding about a count: the sorts that make it up, and the stack behind most. */
void growth_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		     enum what what);

/* Evidence: the innermost frames of a stack, where they are known. */
void stack_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		    int32_t stack);

#endif
