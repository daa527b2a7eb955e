/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the recorder off a CPU that panics. That CPU takes no interrupt any more: who slept there,
 * a timer armed, never wakes. So a second thread looks, on a CPU that the recorder leaves to it:
 * one of the two lives, and this one drives the other away from where it would hang, and wakes it.
 */
#ifndef FS_BLACKBOX_GUARD_H
#define FS_BLACKBOX_GUARD_H

#include "probe/precursors.h"

struct guard;

/* Called by the thread to be guarded. NULL: no CPU to spare, or no thread. */
struct guard *guard_start(const struct precursors *p);

int guard_fd(const struct guard *g); /* readable once there is a panic */

void guard_stop(struct guard *g);

#endif
