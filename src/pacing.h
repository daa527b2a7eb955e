/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A replay at a recording's own times, or faster: what is waited between two looks. */
#ifndef FS_PACING_H
#define FS_PACING_H

#include "session.h"

/* Until the next look is due, at `*speed` times the recording's: keys change it, halt it, end it.
 */
void pacing_wait(struct session *s, double *speed);

#endif
