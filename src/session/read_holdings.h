/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads once what the processes with the most mappings and file descriptors hold. */
#ifndef FS_SESSION_READ_HOLDINGS_H
#define FS_SESSION_READ_HOLDINGS_H

#include "session/session.h"

/* Reads up to 16 processes per kind; growth from before the start is visible in no other way. */
void holders_read(struct session *s);

#endif
