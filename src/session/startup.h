/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles signals while BPF programs are loaded and attached. Loading takes seconds in functions of
 * libbpf, which cannot be interrupted. For this reason, a thread waits for a signal, removes
 * unfinished files, and ends the process by that signal.
 */
#ifndef FS_SESSION_STARTUP_H
#define FS_SESSION_STARTUP_H

#include <pthread.h>

#include "session/session.h"

struct startup {
	struct session *s;
	struct loop loop; /* event loop of the thread that waits for signals */
	pthread_t thread;
	int ends; /* eventfd that ends the thread; < 0: there is no thread */
};

/*
 * Starts the thread. Call startup_begin() with the signals blocked. If the thread cannot be
 * started, signals are handled only after loading.
 */
void startup_begin(struct startup *st, struct session *s);
void startup_end(struct startup *st);

#endif
