/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes over from the flight recorder if the CPU of its thread panics. Such a CPU handles no more
 * interrupts: a thread that sleeps on it never wakes, and an interrupted thread never continues.
 * Therefore a second thread, on another CPU, watches for a panic. Only one CPU can panic, so one of
 * the two threads survives.
 */
#ifndef FS_CRASH_BLACKBOX_GUARD_H
#define FS_CRASH_BLACKBOX_GUARD_H

#include "probe/precursors.h"

struct guard;

/*
 * Guards the calling thread: if its CPU panics, another thread calls `act`. Returns NULL if there
 * is no second CPU, or if no thread can be started.
 */
struct guard *guard_start(const struct precursors *p, void (*act)(void *ctx), void *ctx);

/*
 * The guarded thread calls this before and after each wait. Returns false if the guard has taken
 * over from the thread.
 */
bool guard_pass(struct guard *g);

void guard_stop(struct guard *g);

#endif
