/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules: what a program does by the way it calls: at a limit over and over, in vain a million
 * times, beyond what a set of descriptors holds, or no more at all.
 */
#ifndef FS_RULES_CALLING_RULES_H
#define FS_RULES_CALLING_RULES_H

#include "rules/rules.h"

/* Tests of rules[]. */
bool accept_spins(const struct occasion *o, const struct finding *open, struct finding *f);
bool closes_in_vain(const struct occasion *o, const struct finding *open, struct finding *f);
bool select_is_too_wide(const struct occasion *o, const struct finding *open, struct finding *f);
bool python_waits_for_thread(const struct occasion *o, const struct finding *open,
			     struct finding *f);

#endif
