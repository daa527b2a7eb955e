/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: whether the machine is short of memory, which kind of shortage it is, and when it began.
 */
#ifndef FS_RULES_SHORTAGE_H
#define FS_RULES_SHORTAGE_H

#include "rules/rules.h"

struct shortage {
	/* true: a finding about memory of severity warning or higher is open */
	bool is_short;
	/* kind of shortage: "none", "swap", "page_cache", ...; static, never changes */
	const char *kind;
	const struct finding *main; /* gravest finding about memory; NULL: none */
	/* PSI some and full of memory, as shares of time; negative: not known */
	double some, full;
	/* approximate age of the pressure; negative: not known, or no pressure */
	double since_seconds;
	bool since_longer; /* true: the pressure may be older than `since_seconds` */
};

/*
 * Returns true for rules about memory shortage. Other rules are about file descriptors, numbers of
 * mappings, truncated files, or page faults that wait for something else.
 */
bool shortage_is_about(const struct rule *rule);

void shortage_of(const struct model *m, const struct findings *fs, struct shortage *ret);

#endif
