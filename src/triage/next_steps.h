/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: what to do next, as commands that can be copied. */
#ifndef FS_TRIAGE_NEXT_STEPS_H
#define FS_TRIAGE_NEXT_STEPS_H

#include "base/buf.h"
#include "triage/triage.h"

/* The i-th step, "why: command", into `b`; false where there is none. */
bool remedy_at(const struct diagnosis *v, size_t i, struct buf *b);

#endif
