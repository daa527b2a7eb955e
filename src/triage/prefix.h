/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: what loggers put before the kernel's own text, and how to take it off. */
#ifndef FS_TRIAGE_PREFIX_H
#define FS_TRIAGE_PREFIX_H

#include "triage/lines.h"

/* Takes every prefix off `text`, in any order, and fills what they say into `l`. How many. */
int prefix_strip(struct str *text, struct log_line *l);

/* Where a second record begins in a line that two writers share ("…[   76.471107] BUG:"), or -1. */
long prefix_inside(struct str text);

#endif
