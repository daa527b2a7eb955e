/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that -p names, or all: what `watch`, `record` and `diagnose` have in common. */
#ifndef FS_SESSION_TARGETS_H
#define FS_SESSION_TARGETS_H

#include "session/session.h"

/*
 * Opens the live source with all tiers for those of -p, and without the latency of each fault for
 * all; with `children` also those below them and those to come. Returns 0 or an exit status, and
 * has said why.
 */
int targets_open_live(struct session *s, bool children);

#endif
