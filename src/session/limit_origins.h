/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds who set the limits that findings name. Each origin is looked up once, and recorded. */
#ifndef FS_SESSION_LIMIT_ORIGINS_H
#define FS_SESSION_LIMIT_ORIGINS_H

#include "session/session.h"

/*
 * If a finding is caused by a limit, adds to the finding who set the limit, and the commands that
 * raise it.
 */
void origins_attach(struct session *s, struct finding *f);

#endif
