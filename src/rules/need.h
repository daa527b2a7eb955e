/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: the value with which a limit lets a failed call succeed, and whether the machine allows
 * that value.
 */
#ifndef FS_RULES_NEED_H
#define FS_RULES_NEED_H

#include "rules/cause.h"

struct need {
	const struct limit *limit; /* the limit that failed the call; NULL: none did */
	/*
	 * Value to set, in the unit of the limit; LIMIT_NONE: unlimited; 0: not known. The value is
	 * enough for what the process has and for what the call requested, but never more than the
	 * machine has.
	 */
	uint64_t want;
	/* why no value helps; empty: a value helps, or it is not known whether one does */
	char never[160];
};

void need_of(const struct verdict *v, const struct host_limits *l, struct need *ret);

/*
 * Returns the largest value of a limit that this machine can use, in the limit's unit; LIMIT_NONE
 * if nothing bounds it.
 */
uint64_t need_most(const struct limit *limit, const struct host_limits *l);

#endif
