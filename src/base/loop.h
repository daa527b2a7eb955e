/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event loop: signals, a timer and files, each with a callback, all in the caller's thread.
 *
 *	struct loop l = {.on_signal = take_signal, .on_timer = scan, .ctx = me, LOOP_CLOSED};
 *
 *	err = loop_open(&l, wanted, nr_wanted);
 *	err = err ?: loop_watch(&l, fd, read_records) ?: loop_every(&l, NS_PER_S);
 *	while (!err && !l.done)
 *		err = loop_once(&l, -1);
 *	loop_close(&l);
 *
 * A callback returns 0, or -errno, which ends the round and is what the round returns. Setting
 * `done` ends the round too: no further callback is called.
 */
#ifndef FS_BASE_LOOP_H
#define FS_BASE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#define LOOP_FILES_MAX 4
#define LOOP_CLOSED    .poll = -1, .signals = -1, .timer = -1

struct loop {
	/* set by the caller, who may change them between two rounds */
	int (*on_signal)(void *ctx, const struct signalfd_siginfo *si);
	int (*on_timer)(void *ctx); /* NULL: the timer is never set */
	void *ctx;		    /* of all callbacks */
	bool done;
	/* of the loop; `poll` is readable while anything waits for a callback */
	int poll, signals, timer; /* -1: not open */
	struct loop_file {
		int fd;
		int (*on_readable)(void *ctx);
	} file[LOOP_FILES_MAX];
	size_t files;
	struct epoll_event ready[LOOP_FILES_MAX + 2];
	int nr_ready;
};

/*
 * Blocks the signals in `wanted`, and opens what the loop waits for. A signal that is ignored stays
 * ignored. Signals wait from now on, until there is a round. Returns 0 or -errno; loop_close()
 * closes either way.
 */
int loop_open(struct loop *l, const int *wanted, size_t n);

/* Calls on_readable() while `fd` is readable; the caller closes it. Below 0: does nothing. Returns
 * 0 or -errno: -EPERM for a regular file, which is always readable. */
int loop_watch(struct loop *l, int fd, int (*on_readable)(void *ctx));

/* Ends that. */
void loop_forget(struct loop *l, int fd);

/* Calls on_timer() every `ns` from now on, first after `ns`; 0: no longer. Returns 0 or -errno. */
int loop_every(struct loop *l, uint64_t ns);

/* Waits `timeout_ms` at most, below 0: without an end. Returns how many things are ready, or
 * -errno; an interrupted wait found nothing. */
int loop_wait(struct loop *l, int timeout_ms);

/* Calls what the last wait found. Returns 0, or the -errno of the callback that failed. */
int loop_dispatch(struct loop *l);

/* A round: waits, then calls. */
int loop_once(struct loop *l, int timeout_ms);

/* Safe for a loop that was never opened. Signals stay blocked. */
void loop_close(struct loop *l);

#endif
