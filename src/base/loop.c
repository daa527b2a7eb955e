// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/loop.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/signals.h"

static int add(const struct loop *l, int fd, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.fd = fd};

	return epoll_ctl(l->poll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

int loop_open(struct loop *l, const int *wanted, size_t n)
{
	l->signals = signals_open(wanted, n);
	if (l->signals < 0)
		return l->signals;
	l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	l->poll = epoll_create1(EPOLL_CLOEXEC);
	if (l->timer < 0 || l->poll < 0)
		return -errno;
	return add(l, l->signals, EPOLLIN) ?: add(l, l->timer, EPOLLIN);
}

static int watch(struct loop *l, int fd, uint32_t events, int (*on_event)(void *ctx))
{
	int err;

	if (fd < 0)
		return 0;
	err = l->files == LOOP_FILES_MAX ? -ENOSPC : add(l, fd, events);
	if (!err)
		l->file[l->files++] = (struct loop_file){fd, on_event};
	return err;
}

int loop_watch(struct loop *l, int fd, int (*on_readable)(void *ctx))
{
	return watch(l, fd, EPOLLIN, on_readable);
}

int loop_watch_priority(struct loop *l, int fd, int (*on_event)(void *ctx))
{
	return watch(l, fd, EPOLLPRI, on_event);
}

void loop_forget(struct loop *l, int fd)
{
	for (size_t i = l->files; i--;)
		if (l->file[i].fd == fd) {
			epoll_ctl(l->poll, EPOLL_CTL_DEL, fd, NULL);
			l->file[i] = l->file[--l->files];
		}
}

int loop_every(struct loop *l, uint64_t ns)
{
	const struct timespec t = {ns / 1000000000, ns % 1000000000};
	const struct itimerspec every = {t, t};

	return timerfd_settime(l->timer, 0, &every, NULL) ? -errno : 0;
}

int loop_wait(struct loop *l, int timeout_ms)
{
	l->nr_ready = epoll_wait(l->poll, l->ready, LOOP_FILES_MAX + 2, timeout_ms);
	if (l->nr_ready >= 0)
		return l->nr_ready;
	l->nr_ready = 0;
	return errno == EINTR ? 0 : -errno;
}

/*
 * Reads all pending signals, so that a second signal need not wait for the work that
 * the first one started.
 */
static int take_signals(struct loop *l)
{
	struct signalfd_siginfo si;
	int err = 0;

	while (!err && read(l->signals, &si, sizeof(si)) == sizeof(si))
		err = l->on_signal(l->ctx, &si);
	return err;
}

static int take_timer(struct loop *l)
{
	uint64_t expirations;

	if (read(l->timer, &expirations, sizeof(expirations)) < 0)
		return 0; /* the timer was set again after the wait, so it has not expired */
	return l->on_timer(l->ctx);
}

static int call(struct loop *l, int fd)
{
	if (fd == l->signals)
		return take_signals(l);
	if (fd == l->timer)
		return take_timer(l);
	for (size_t i = 0; i < l->files; i++)
		if (l->file[i].fd == fd)
			return l->file[i].on_readable(l->ctx);
	return 0; /* an earlier callback of this round stopped watching the file */
}

int loop_dispatch(struct loop *l)
{
	int err = 0;

	for (int i = 0; i < l->nr_ready && !err && !l->done; i++)
		err = call(l, l->ready[i].data.fd);
	l->nr_ready = 0;
	return err;
}

int loop_once(struct loop *l, int timeout_ms)
{
	int n = loop_wait(l, timeout_ms);

	return n < 0 ? n : loop_dispatch(l);
}

void loop_close(struct loop *l)
{
	int *const fds[] = {&l->signals, &l->timer, &l->poll};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	l->files = 0;
}
