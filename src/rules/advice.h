/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: finds limits of the machine that are too low, and suggests commands that raise them. */
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
 * Fills ret with up to ADVICE_MAX entries and returns their number. `origin` says where limits were
 * set. For a limit that `origin` lacks, it is not known where the limit was set.
 */
size_t advise(const struct setting *s, size_t n, const struct origin *origin, size_t origins,
	      struct advice *ret);

#endif
