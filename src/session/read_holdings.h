/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads once which mappings and fds processes hold, for the processes with the most mappings or
 * fds.
 */
#ifndef FS_SESSION_READ_HOLDINGS_H
#define FS_SESSION_READ_HOLDINGS_H

#include "session/session.h"

/*
 * Reads up to 16 processes for mappings and 16 for fds. Nothing else shows growth from before
 * faultscope's start.
 */
void holders_read(struct session *s);

#endif
