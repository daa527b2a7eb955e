/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: findings about failed calls: their title and evidence, commands that raise the limit, and
 * whether the program repeated its request with success in another form.
 */
#ifndef FS_RULES_REFUSAL_RULES_H
#define FS_RULES_REFUSAL_RULES_H

#include "rules/rules.h"

/*
 * Fills the parts that all findings about failed calls have. These are the title, which ends with
 * `limit`, the cause, the evidence, and the limits that would fail the call next.
 */
void refusal_say(const struct occasion *o, struct finding *f, const char *limit);

bool refusal_has_cause(const struct occasion *o, const char *cause);
bool refusal_is_fork(const struct occasion *o);

/*
 * Returns true if a program can repeat the request in another form that may succeed. Other forms
 * are: without huge pages, without locking, with a smaller size, or at another address. A request
 * that failed at vm.max_map_count, for example, has no such form.
 */
bool refusal_has_other_form(const struct refused_record *r, const struct verdict *v);

/*
 * Adds the stack of the failed call, unless the finding already has the stack that created what
 * reached the limit.
 */
void refusal_add_stack(const struct occasion *o, struct finding *f);

/*
 * Lowers the severity of a finding if the program could repeat its request in another form. If the
 * program did so with success, the finding is INFO. If faultscope did not see what the program did
 * next, the finding is at most a WARNING. If the finding is open as a WARNING or worse, nothing
 * changes.
 */
void refusal_settle(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * Adds a command that raises the limit to a value with which the call succeeds. If no value helps,
 * adds nothing. Returns false if it is not known which value is enough.
 */
bool help_limit(const struct occasion *o, struct finding *f);

/*
 * Like help_limit(). If it is not known which value is enough, adds a command that shows the limit.
 */
void help_limit_or_see(const struct occasion *o, struct finding *f);

#endif
