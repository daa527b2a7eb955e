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
 * A callback returns 0 or -errno. If it returns -errno, loop_once() calls no further callback and
 * returns this -errno. A callback that sets `done` also prevents further callbacks.
 */
#ifndef FS_BASE_LOOP_H
#define FS_BASE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#define LOOP_FILES_MAX 8
#define LOOP_CLOSED    .poll = -1, .signals = -1, .timer = -1

struct loop {
	/* The caller sets on_signal, on_timer, ctx and done, and may change them between rounds. */
	int (*on_signal)(void *ctx, const struct signalfd_siginfo *si);
	int (*on_timer)(void *ctx); /* called when the timer expires; NULL: no timer is set */
	void *ctx;		    /* argument of all callbacks */
	bool done;
	/* Private members. The descriptor `poll` is readable while a callback is due. */
	int poll, signals, timer; /* descriptors of the loop; -1: not open */
	struct loop_file {
		int fd;
		int (*on_readable)(void *ctx);
	} file[LOOP_FILES_MAX];
	size_t files;
	struct epoll_event ready[LOOP_FILES_MAX + 2];
	int nr_ready;
};

/*
 * Blocks the signals in `wanted` and opens the descriptors of the loop. A signal that is ignored
 * stays ignored. After this call, signals are queued until a round of the loop handles them.
 * Returns 0 or -errno; call loop_close() in either case.
 */
int loop_open(struct loop *l, const int *wanted, size_t n);

/*
 * Calls on_readable() while `fd` is readable. The caller closes `fd`. A negative `fd` is ignored.
 * Returns 0 or -errno: -EPERM for a regular file, which is always readable.
 */
int loop_watch(struct loop *l, int fd, int (*on_readable)(void *ctx));

/* Calls on_event() when `fd` is ready for EPOLLPRI, as a trigger of memory pressure is. */
int loop_watch_priority(struct loop *l, int fd, int (*on_event)(void *ctx));

/* Stops watching `fd`. */
void loop_forget(struct loop *l, int fd);

/* Calls on_timer() every `ns`, first after `ns`; 0 stops the timer. Returns 0 or -errno. */
int loop_every(struct loop *l, uint64_t ns);

/*
 * Waits for `timeout_ms` at most; if `timeout_ms` is negative, without limit. Returns how many
 * descriptors are ready, or -errno; an interrupted wait returns 0.
 */
int loop_wait(struct loop *l, int timeout_ms);

/* Calls the callbacks that the last wait found due. Returns 0, or -errno of a failed callback. */
int loop_dispatch(struct loop *l);

/* Runs one round of the loop: waits, then calls callbacks. */
int loop_once(struct loop *l, int timeout_ms);

/* Closes the loop, also one that was never opened. The signals of the loop stay blocked. */
void loop_close(struct loop *l);

#endif
