/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stands in for a recorder whose CPU panics. That CPU takes no interrupt any more: who slept there,
 * a timer armed, never wakes, and who was interrupted there never goes on. So a second thread
 * looks, on a CPU that the recorder leaves to it: one of the two lives.
 */
#ifndef FS_CRASH_BLACKBOX_GUARD_H
#define FS_CRASH_BLACKBOX_GUARD_H

#include "probe/precursors.h"

struct guard;

/*
 * Called by the thread to be guarded; `act` is then called in its stead, in another thread. NULL:
 * no CPU to spare, or no thread.
 */
struct guard *guard_start(const struct precursors *p, void (*act)(void *ctx), void *ctx);

/* Notes where the guarded thread is, before and behind each wait; false: its work was taken over.
 */
bool guard_pass(struct guard *g);

void guard_stop(struct guard *g);

#endif
