/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds where the limits named in findings come from. Each is looked up once, and recorded. */
#ifndef FS_SESSION_LIMIT_ORIGINS_H
#define FS_SESSION_LIMIT_ORIGINS_H

#include "session/session.h"

/* If the cause of the finding is a limit, adds who set it and commands that raise it. */
void origins_attach(struct session *s, struct finding *f);

#endif
