/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the limits of findings come from: looked up once, live, and kept for the recording. */
#ifndef FS_SESSION_LIMIT_ORIGINS_H
#define FS_SESSION_LIMIT_ORIGINS_H

#include "session/session.h"

/* Adds to a finding whose cause is a limit who set that, and commands that raise it here. */
void origins_attach(struct session *s, struct finding *f);

#endif
