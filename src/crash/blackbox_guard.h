/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes over from a recorder whose CPU panics. That CPU handles no more interrupts: a thread that
 * sleeps there never wakes, and an interrupted one never continues. So a second thread watches from
 * another CPU: one of the two threads survives.
 */
#ifndef FS_CRASH_BLACKBOX_GUARD_H
#define FS_CRASH_BLACKBOX_GUARD_H

#include "probe/precursors.h"

struct guard;

/*
 * Guards the calling thread: if its CPU panics, another thread calls `act`. Returns NULL if there
 * is no second CPU, or no thread can be started.
 */
struct guard *guard_start(const struct precursors *p, void (*act)(void *ctx), void *ctx);

/*
 * Called by the guarded thread before and after each wait. Returns false if the guard has taken
 * over its work.
 */
bool guard_pass(struct guard *g);

void guard_stop(struct guard *g);

#endif
