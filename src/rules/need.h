/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: how large a limit has to be for a refused call to pass, and whether this machine can give
 * as much.
 */
#ifndef FS_RULES_NEED_H
#define FS_RULES_NEED_H

#include "rules/cause.h"

struct need {
	const struct limit *limit; /* NULL: the call was not refused by one */
	/* To set, in the unit of the limit; LIMIT_NONE: unlimited; 0: how much is not known. It is
	 * no less than what is held and asked, and no more than the machine has. */
	uint64_t want;
	char never[160]; /* why no value helps; empty: one does, or that is not known */
};

void need_of(const struct verdict *v, const struct host_limits *l, struct need *ret);

/* The largest value of a limit that this machine can use, in its unit; LIMIT_NONE: no bound. */
uint64_t need_most(const struct limit *limit, const struct host_limits *l);

#endif
