// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/startup.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/signals.h"

static void *wait_for_signal(void *arg)
{
	struct startup *st = arg;
	struct pollfd wait[2] = {{st->ends, POLLIN, 0}, {st->signals, POLLIN, 0}};
	struct signalfd_siginfo si;

	while (poll(wait, 2, -1) < 0)
		continue; /* a signal */
	if (wait[0].revents || read(st->signals, &si, sizeof(si)) != sizeof(si))
		return NULL;
	session_discard(st->s);
	signal_end_by(si.ssi_signo);
	_exit(128 + si.ssi_signo);
}

void startup_begin(struct startup *st, struct session *s)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	*st = (struct startup){.s = s, .ends = eventfd(0, EFD_CLOEXEC)};
	st->signals = signals_open(ending, sizeof(ending) / sizeof(ending[0]), SFD_NONBLOCK);
	if (st->ends >= 0 && st->signals >= 0 &&
	    !pthread_create(&st->thread, NULL, wait_for_signal, st))
		return;
	if (st->ends >= 0)
		close(st->ends);
	if (st->signals >= 0)
		close(st->signals);
	st->ends = st->signals = -1;
}

void startup_end(struct startup *st)
{
	const uint64_t one = 1;

	if (st->ends < 0)
		return;
	if (write(st->ends, &one, sizeof(one)) == sizeof(one))
		pthread_join(st->thread, NULL);
	close(st->ends);
	close(st->signals);
}
