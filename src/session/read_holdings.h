/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the processes with the most mappings and descriptors hold, read once. */
#ifndef FS_SESSION_READ_HOLDINGS_H
#define FS_SESSION_READ_HOLDINGS_H

#include "session/session.h"

/* One bounded read of each one's maps and descriptors: what grew before us is only there. */
void holders_read(struct session *s);

#endif
