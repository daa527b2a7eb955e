// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the event loop with pipes, a timer, and signals that the process sends to itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/signals.h"
#include "tap.h"

#define SHORT_NS 1000000

static const int wanted[] = {SIGUSR1, SIGUSR2, SIGHUP};

struct seen {
	struct loop loop;
	int pipe[2], other[2];
	unsigned int timer, read, other_read;
	int signal[4]; /* signals in the order in which they arrived */
	size_t signals;
	int fail; /* return value of the read callback */
	bool forgets;
};

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	struct seen *s = ctx;

	if (s->signals < 4)
		s->signal[s->signals++] = si->ssi_signo;
	return 0;
}

static int on_timer(void *ctx)
{
	struct seen *s = ctx;

	s->loop.done = ++s->timer == 2;
	return 0;
}

static int on_read(void *ctx)
{
	struct seen *s = ctx;
	char c;

	s->read += read(s->pipe[0], &c, 1) == 1;
	if (s->forgets)
		loop_forget(&s->loop, s->other[0]);
	return s->fail;
}

static int on_other(void *ctx)
{
	struct seen *s = ctx;
	char c;

	s->other_read += read(s->other[0], &c, 1) == 1;
	if (s->forgets)
		loop_forget(&s->loop, s->pipe[0]);
	return 0;
}

static void open_seen(struct seen *s)
{
	*s = (struct seen){.loop = {.on_signal = on_signal, .on_timer = on_timer, LOOP_CLOSED}};
	s->loop.ctx = s;
	if (pipe2(s->pipe, O_CLOEXEC) || pipe2(s->other, O_CLOEXEC) ||
	    loop_open(&s->loop, wanted, sizeof(wanted) / sizeof(wanted[0])) ||
	    loop_watch(&s->loop, s->pipe[0], on_read) ||
	    loop_watch(&s->loop, s->other[0], on_other))
		abort();
}

static void close_seen(struct seen *s)
{
	loop_close(&s->loop);
	for (int i = 0; i < 2; i++) {
		close(s->pipe[i]);
		close(s->other[i]);
	}
}

static void put(int fd)
{
	if (write(fd, "x", 1) != 1)
		abort();
}

static void test_files(void)
{
	struct seen s;

	open_seen(&s);
	is_u64(loop_wait(&s.loop, 0), 0, "nothing is ready");
	put(s.pipe[1]);
	is_u64(loop_once(&s.loop, -1), 0, "a pipe is readable");
	is_u64(s.read, 1, "its callback is called");
	is_u64(s.other_read, 0, "another file's is not");
	put(s.pipe[1]);
	put(s.other[1]);
	is_u64(loop_wait(&s.loop, -1), 2, "both are ready");
	is_u64(s.read, 1, "waiting alone calls nothing");
	loop_dispatch(&s.loop);
	ok(s.read == 2 && s.other_read == 1, "dispatching calls both");
	close_seen(&s);
}

static void test_errors(void)
{
	struct seen s;

	open_seen(&s);
	s.fail = -EIO;
	put(s.pipe[1]);
	ok(loop_once(&s.loop, -1) == -EIO, "a callback's error is the round's");
	s.fail = 0;
	put(s.pipe[1]);
	put(s.other[1]);
	s.forgets = true;
	loop_once(&s.loop, -1);
	is_u64(s.read - 1 + s.other_read, 1,
	       "a file that an earlier callback of the round forgot is left alone");
	ok(loop_watch(&s.loop, -1, on_read) == 0, "no file is none to watch");
	close_seen(&s);
}

static void test_forget(void)
{
	struct seen s;

	open_seen(&s);
	put(s.pipe[1]);
	loop_forget(&s.loop, s.pipe[0]);
	is_u64(loop_wait(&s.loop, 0), 0, "a file that was forgotten wakes nobody");
	is_u64(loop_watch(&s.loop, s.pipe[0], on_read), 0, "it can be watched again");
	is_u64(loop_wait(&s.loop, 0), 1, "and is ready then");
	close_seen(&s);
}

static void test_room(void)
{
	struct seen s;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), more[2];

	open_seen(&s);
	ok(loop_watch(&s.loop, fd, on_read) == -EPERM, "a regular file cannot be waited for");
	is_u64(s.loop.files, 2, "and is not among the files");
	while (s.loop.files < LOOP_FILES_MAX)
		if (pipe2(more, O_CLOEXEC) || loop_watch(&s.loop, more[0], on_read))
			abort();
	if (pipe2(more, O_CLOEXEC))
		abort();
	ok(loop_watch(&s.loop, more[0], on_read) == -ENOSPC, "more files than there is room for");
	close(fd);
	close_seen(&s);
}

static void test_timer(void)
{
	struct seen s;
	int err = 0;

	open_seen(&s);
	is_u64(loop_every(&s.loop, SHORT_NS), 0, "a timer is set");
	while (!err && !s.loop.done)
		err = loop_once(&s.loop, -1);
	ok(!err && s.timer == 2, "it expires again and again");
	put(s.pipe[1]);
	loop_wait(&s.loop, -1);
	is_u64(loop_dispatch(&s.loop), 0, "a round of a loop that is done");
	is_u64(s.read, 0, "calls nothing more");
	s.loop.done = false;
	is_u64(loop_every(&s.loop, 0), 0, "the timer is ended");
	loop_once(&s.loop, -1);
	ok(s.read == 1 && s.timer == 2, "and expires no more");
	close_seen(&s);
}

static void test_signals(void)
{
	struct seen s;

	signal(SIGUSR1, SIG_DFL); /* a parent may have ignored them */
	signal(SIGUSR2, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	open_seen(&s);
	ok(signal_is_ignored(SIGHUP), "a signal that is ignored stays ignored");
	kill(getpid(), SIGHUP);
	is_u64(loop_wait(&s.loop, 0), 0, "and is not read");
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	loop_once(&s.loop, -1);
	ok(s.signals == 2 && s.signal[0] == SIGUSR1 && s.signal[1] == SIGUSR2,
	   "one round takes all signals");
	close_seen(&s);
	signal(SIGHUP, SIG_DFL);
}

static void test_close(void)
{
	struct loop l = {LOOP_CLOSED};

	loop_close(&l);
	ok(l.poll == -1, "a loop that was never opened can be closed");
	if (loop_open(&l, wanted, 1))
		abort();
	loop_close(&l);
	ok(l.poll == -1 && l.timer == -1 && l.signals == -1, "nothing is open behind it");
	ok(loop_wait(&l, 0) == -EBADF, "and nothing can be waited for");
}

int main(void)
{
	test_files();
	test_errors();
	test_forget();
	test_room();
	test_timer();
	test_signals();
	test_close();
	return tap_done();
}
