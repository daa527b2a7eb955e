/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: which limits of the machine are tight, and what to change for more. */
#ifndef FS_RULES_ADVICE_H
#define FS_RULES_ADVICE_H

#include "base/setting.h"

#define ADVICE_MAX 16

struct advice {
	const char *key; /* of the setting */
	char why[96];
	char command[256];
};

/* Fills ret, up to ADVICE_MAX; returns how many. */
size_t advise(const struct setting *s, size_t n, struct advice *ret);

#endif
