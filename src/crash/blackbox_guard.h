/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes over from a recorder whose CPU panics. That CPU handles no more interrupts: a thread that
 * sleeps there never wakes, and an interrupted one never continues. So a second thread checks it
 * from another CPU; one of the two survives.
 */
#ifndef FS_CRASH_BLACKBOX_GUARD_H
#define FS_CRASH_BLACKBOX_GUARD_H

#include "probe/precursors.h"

struct guard;

/*
 * Called by the thread to be guarded. If it stops, another thread calls `act`. Returns NULL if
 * there is no spare CPU, or no thread.
 */
struct guard *guard_start(const struct precursors *p, void (*act)(void *ctx), void *ctx);

/*
 * Called by the guarded thread before and after each wait. Returns false if its work was taken
 * over.
 */
bool guard_pass(struct guard *g);

void guard_stop(struct guard *g);

#endif
