/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: suggests next steps after a crash, as commands that can be copied. */
#ifndef FS_TRIAGE_NEXT_STEPS_H
#define FS_TRIAGE_NEXT_STEPS_H

#include "base/buf.h"
#include "triage/triage.h"

/* Writes the i-th step to `b`, as "reason: command". Returns false if there are fewer steps. */
bool remedy_at(const struct diagnosis *v, size_t i, struct buf *b);

#endif
