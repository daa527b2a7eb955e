/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: which limits of the machine are tight, and what to change for more. */
#ifndef FS_RULES_ADVICE_H
#define FS_RULES_ADVICE_H

#include "base/setting.h"
#include "rules/remedy.h"

#define ADVICE_MAX 16

struct advice {
	const char *key; /* of the setting */
	char why[96];
	char command[768]; /* at once */
	char lasting[768]; /* for good; empty: none is known */
	char cost[320];	   /* of a higher limit; empty: none to speak of */
};

/*
 * Fills ret, up to ADVICE_MAX; returns how many. Origins are of those settings that are limits; of
 * one that is not among them nothing is known but its value.
 */
size_t advise(const struct setting *s, size_t n, const struct origin *origin, size_t origins,
	      struct advice *ret);

#endif
