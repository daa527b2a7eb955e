/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: refused calls whose cause is memory, processes or a driver, and no limit of one's own. */
#ifndef FS_RULES_REFUSAL_RULES_H
#define FS_RULES_REFUSAL_RULES_H

#include "rules/rules.h"

/* Fills what every finding of a refused call has: sentence, cause, evidence, what fails next. */
void refusal_say(const struct occasion *o, struct finding *f, const char *limit);

bool refusal_has_cause(const struct occasion *o, const char *cause);

/* What to do about a limit of inotify that is a user namespace's own; false: it is the host's. */
bool help_inotify(const struct occasion *o, struct finding *f);

/* Tests of rules[]. */
bool refused_by_strict(const struct occasion *o, const struct finding *open, struct finding *f);
bool refused_by_heuristic(const struct occasion *o, const struct finding *open, struct finding *f);
bool fork_refused(const struct occasion *o, const struct finding *open, struct finding *f);
bool refused_by_space(const struct occasion *o, const struct finding *open, struct finding *f);
bool refused_by_huge_pages(const struct occasion *o, const struct finding *open, struct finding *f);
bool refused_by_driver(const struct occasion *o, const struct finding *open, struct finding *f);
bool thread_refused(const struct occasion *o, const struct finding *open, struct finding *f);
bool refused_otherwise(const struct occasion *o, const struct finding *open, struct finding *f);

#endif
