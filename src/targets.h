/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that -p names: what `watch` and `diagnose` have in common. */
#ifndef FS_TARGETS_H
#define FS_TARGETS_H

#include "session.h"

/* What is watched, for people: s->target. */
void targets_describe(struct session *s);

/*
 * Watches the processes of -p, with `children` those below them and those to come too. Returns 0
 * or an exit status, and has said why.
 */
int targets_watch(struct session *s, bool children);

#endif
