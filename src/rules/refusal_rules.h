/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: findings of failed calls: title and evidence, whether the program got its request in
 * another form, and commands that raise the limit.
 */
#ifndef FS_RULES_REFUSAL_RULES_H
#define FS_RULES_REFUSAL_RULES_H

#include "rules/rules.h"

/*
 * Fills what all findings of failed calls have: the title, which ends with `limit`, the cause, the
 * evidence, and the limits that would fail the call next.
 */
void refusal_say(const struct occasion *o, struct finding *f, const char *limit);

bool refusal_has_cause(const struct occasion *o, const char *cause);
bool refusal_is_fork(const struct occasion *o);

/*
 * Returns true if the request may succeed in another form: without huge pages, without a lock,
 * smaller, or at another address. A request that failed at vm.max_map_count, for example, cannot.
 */
bool refusal_has_other_form(const struct refused_record *r, const struct verdict *v);

/*
 * If the program repeated its request with success in another form, the finding is only INFO,
 * unless it is already open for a request that failed for good. If faultscope did not see what the
 * program did next, the finding is at most a WARNING.
 */
void refusal_settle(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * Adds a command that raises the limit to a value with which the call succeeds; nothing if no value
 * helps. Returns false if no such value is known.
 */
bool help_limit(const struct occasion *o, struct finding *f);

/* Like help_limit(), but if the value is not known, adds a command that shows the limit. */
void help_limit_or_see(const struct occasion *o, struct finding *f);

#endif
