/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: advice about limits of the machine that are tight, and how to raise them. */
#ifndef FS_RULES_ADVICE_H
#define FS_RULES_ADVICE_H

#include "base/setting.h"
#include "rules/remedy.h"

#define ADVICE_MAX 16

struct advice {
	const char *key; /* name of the setting */
	char why[96];
	char command[768]; /* command that takes effect at once */
	char lasting[768]; /* command that makes the change permanent; empty: none is known */
	char cost[320];	   /* cost of a higher limit; empty: none */
};

/*
 * Fills ret with up to ADVICE_MAX entries and returns how many. `origin` says where limits were
 * set. Of a limit that is not in `origin`, only the value is known.
 */
size_t advise(const struct setting *s, size_t n, const struct origin *origin, size_t origins,
	      struct advice *ret);

#endif
