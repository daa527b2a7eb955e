/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: refused calls whose cause is memory, processes or a driver, and no limit of one's own. */
#ifndef FS_RULES_REFUSAL_RULES_H
#define FS_RULES_REFUSAL_RULES_H

#include "rules/rules.h"

/* Fills what every finding of a refused call has: sentence, cause, evidence, what fails next. */
void refusal_say(const struct occasion *o, struct finding *f, const char *limit);

bool refusal_has_cause(const struct occasion *o, const char *cause);
bool refusal_is_fork(const struct occasion *o);

/*
 * Whether a refused request may be served in another form: without huge pages, without a lock,
 * smaller, elsewhere. Of what fails whatever is asked, as at vm.max_map_count, it may not.
 */
bool refusal_has_other_form(const struct refused_record *r, const struct verdict *v);

/*
 * What a program was refused and then got in another form is no more than news: the finding is
 * INFO, but where the same one is open for what it did not get. A WARNING where it could not be
 * seen any more whether it did.
 */
void refusal_settle(const struct occasion *o, const struct finding *open, struct finding *f);

/*
 * The value of its limit that lets the call pass, as a command, or nothing more where it was said
 * that none does. False: which it is, is not known.
 */
bool help_limit(const struct occasion *o, struct finding *f);

/* The same; where the value is not known, how to see the limit. */
void help_limit_or_see(const struct occasion *o, struct finding *f);

#endif
