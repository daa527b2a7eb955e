/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that -p names, once their source is open. */
#ifndef FS_SESSION_TARGETS_H
#define FS_SESSION_TARGETS_H

#include "session/session.h"

/*
 * Has each of them watched; where the plan has children, also those below them and those to come.
 * Returns 0 or an exit status, and has said why.
 */
int targets_watch(struct session *s);

#endif
