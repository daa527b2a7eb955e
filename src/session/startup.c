// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/startup.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/signals.h"

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	struct startup *st = ctx;

	session_discard(st->s);
	signal_end_by(si->ssi_signo);
	_exit(128 + si->ssi_signo);
}

static int on_end(void *ctx)
{
	struct startup *st = ctx;

	st->loop.done = true;
	return 0;
}

static void *wait_for_signal(void *arg)
{
	struct startup *st = arg;

	while (!st->loop.done && !loop_once(&st->loop, -1))
		continue;
	return NULL;
}

static void close_all(struct startup *st)
{
	if (st->ends >= 0)
		close(st->ends);
	st->ends = -1;
	loop_close(&st->loop);
}

void startup_begin(struct startup *st, struct session *s)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	*st = (struct startup){.s = s, .ends = eventfd(0, EFD_CLOEXEC)};
	st->loop = (struct loop){.on_signal = on_signal, .ctx = st, LOOP_CLOSED};
	if (st->ends < 0 || loop_open(&st->loop, ending, sizeof(ending) / sizeof(ending[0])) ||
	    loop_watch(&st->loop, st->ends, on_end) ||
	    pthread_create(&st->thread, NULL, wait_for_signal, st))
		close_all(st);
}

void startup_end(struct startup *st)
{
	const uint64_t one = 1;

	if (st->ends < 0)
		return;
	if (write(st->ends, &one, sizeof(one)) == sizeof(one))
		pthread_join(st->thread, NULL);
	close_all(st);
}
