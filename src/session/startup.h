/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A signal while programs are loaded and attached. That takes seconds, most of them within single
 * calls of libbpf, and nothing is watched yet: a thread waits for the signal meanwhile, removes
 * what was begun of files, and ends the process by that signal.
 */
#ifndef FS_SESSION_STARTUP_H
#define FS_SESSION_STARTUP_H

#include <pthread.h>

#include "session/session.h"

struct startup {
	struct session *s;
	struct loop loop; /* of the thread */
	pthread_t thread;
	int ends; /* an eventfd; < 0: there is no thread */
};

/* The signals are blocked by now. Where no thread is to be had, they wait for the end of it. */
void startup_begin(struct startup *st, struct session *s);
void startup_end(struct startup *st);

#endif
