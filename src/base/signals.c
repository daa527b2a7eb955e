// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

bool signal_is_ignored(int number)
{
	struct sigaction now;

	return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

int signals_open(const int *wanted, size_t n)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < n; i++)
		/*
		 * Do not block ignored signals: the kernel queues a blocked signal, even if it is
		 * ignored.
		 */
		if (!signal_is_ignored(wanted[i]))
			sigaddset(&set, wanted[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void signal_end_by(int number)
{
	struct rlimit no_core = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &no_core);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}
