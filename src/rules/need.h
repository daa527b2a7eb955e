/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: how high a limit must be for a failed call to succeed, and whether that is possible. */
#ifndef FS_RULES_NEED_H
#define FS_RULES_NEED_H

#include "rules/cause.h"

struct need {
	const struct limit *limit; /* the limit that failed the call; NULL: none did */
	/*
	 * Value to set, in the unit of the limit; LIMIT_NONE: unlimited; 0: not known. The value
	 * covers what the process holds and what the call requested, and is not more than the
	 * machine has.
	 */
	uint64_t want;
	char never[160]; /* why no value helps; empty: a value helps, or that is not known */
};

void need_of(const struct verdict *v, const struct host_limits *l, struct need *ret);

/*
 * Returns the largest value of a limit that this machine can use, in the limit's unit; LIMIT_NONE
 * if nothing bounds it.
 */
uint64_t need_most(const struct limit *limit, const struct host_limits *l);

#endif
