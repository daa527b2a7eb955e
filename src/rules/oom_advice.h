/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: what would have prevented an OOM kill, and by how much. */
#ifndef FS_RULES_OOM_ADVICE_H
#define FS_RULES_OOM_ADVICE_H

#include "rules/oom_page.h"

/* Fills p->advice from the other members of the page. */
void oom_advise(struct oom_page *p);

#endif
