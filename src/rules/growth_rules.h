/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: findings about the kinds of a process's mappings and file descriptors, and about the code
 * that created them. The kinds come from the list of the process's mappings and fds. If this list
 * was not read, they come from the calls that faultscope saw.
 */
#ifndef FS_RULES_GROWTH_RULES_H
#define FS_RULES_GROWTH_RULES_H

#include "rules/rules.h"

/*
 * Adds evidence to a finding about a number of mappings or fds. The evidence contains the names of
 * the groups that grew most, and the call stack of the first group.
 */
void growth_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		     enum what what);

/*
 * Adds the innermost frames of a stack as evidence, if they are known. If the stack has a line of
 * the user's code, the title ends with it: "…, made by train.py:57 load". `role` says what this
 * code did, such as "made by".
 */
void stack_evidence(struct finding *f, const struct model *m, const struct process_key *id,
		    int32_t stack, const char *role);

#endif
