/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads once which mappings and fds processes hold, for the processes with the most mappings or
 * fds.
 */
#ifndef FS_SESSION_READ_HOLDINGS_H
#define FS_SESSION_READ_HOLDINGS_H

#include "session/session.h"

/*
 * Reads the mappings of up to 16 processes, and the fds of up to 16. Growth from before
 * faultscope's start is visible only in these lists.
 */
void holders_read(struct session *s);

#endif
