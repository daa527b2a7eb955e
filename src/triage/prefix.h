/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: removes the prefixes that loggers add to kernel messages. */
#ifndef FS_TRIAGE_PREFIX_H
#define FS_TRIAGE_PREFIX_H

#include "triage/lines.h"

/* Removes all prefixes of `text`, in any order; `l` gets their values. Returns their number. */
int prefix_strip(struct str *text, struct log_line *l);

/*
 * Returns the offset at which a second record starts in a line that two CPUs wrote ("…[ 76.471107]
 * BUG:"), or -1.
 */
long prefix_inside(struct str text);

#endif
