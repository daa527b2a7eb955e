// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the event loop if calls of the kernel fail or are interrupted, if callbacks end a round,
 * and if files are forgotten. Nothing here waits.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "base/loop.h"
#include "open_files.h"
#include "tap.h"

#define HOUR_NS	   3600000000000ULL
#define NO_TIMEOUT (-1)

static const int wanted[] = {SIGUSR1, SIGUSR2};

static struct {
	int timer_error, poll_error, wait_error, set_error;
	uint32_t events; /* of the file that was added last */
	struct itimerspec set;
} kernel;

static struct loop loop;
static int pipes[3][2];
static unsigned int called[3], timer, signals;
static int answer;     /* of all callbacks */
static int forgets[2]; /* files that the first callback of a round forgets; -1: none */

static int fails(int number)
{
	errno = number;
	return -1;
}

int timerfd_create(int clock, int flags)
{
	return kernel.timer_error ? fails(kernel.timer_error)
				  : syscall(SYS_timerfd_create, clock, flags);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	kernel.set = *value;
	return kernel.set_error ? fails(kernel.set_error)
				: syscall(SYS_timerfd_settime, fd, flags, value, old);
}

int epoll_create1(int flags)
{
	return kernel.poll_error ? fails(kernel.poll_error) : syscall(SYS_epoll_create1, flags);
}

int epoll_ctl(int poll, int operation, int fd, struct epoll_event *event)
{
	if (operation == EPOLL_CTL_ADD)
		kernel.events = event->events;
	return syscall(SYS_epoll_ctl, poll, operation, fd, event);
}

int epoll_wait(int poll, struct epoll_event *ret, int most, int timeout_ms)
{
	if (kernel.wait_error)
		return fails(kernel.wait_error);
	return syscall(SYS_epoll_pwait, poll, ret, most, timeout_ms, NULL, 8);
}

static int on_file(size_t which)
{
	called[which]++;
	for (int i = 0; i < 2; i++)
		if (forgets[i] >= 0 && forgets[i] != pipes[which][0])
			loop_forget(&loop, forgets[i]);
	return answer;
}

static int on_first(void *ctx)
{
	(void)ctx;
	return on_file(0);
}

static int on_second(void *ctx)
{
	(void)ctx;
	return on_file(1);
}

static int on_third(void *ctx)
{
	(void)ctx;
	return on_file(2);
}

static int on_timer(void *ctx)
{
	timer += ctx == &loop;
	return answer;
}

static int on_signal(void *ctx, const struct signalfd_siginfo *si)
{
	signals += ctx == &loop && si->ssi_signo;
	return answer;
}

/* Opens a loop that watches three pipes. */
static void begin(void)
{
	int (*const callback[])(void *) = {on_first, on_second, on_third};

	memset(&kernel, 0, sizeof(kernel));
	memset(called, 0, sizeof(called));
	timer = signals = 0;
	answer = 0;
	forgets[0] = forgets[1] = -1;
	loop = (struct loop){
		.on_signal = on_signal, .on_timer = on_timer, .ctx = &loop, LOOP_CLOSED};
	if (loop_open(&loop, wanted, 2))
		abort();
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) || loop_watch(&loop, pipes[i][0], callback[i]))
			abort();
}

static void end(void)
{
	loop_close(&loop);
	for (int i = 0; i < 3; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static void put(size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++)
		if (write(pipes[i][1], "x", 1) != 1)
			abort();
}

static bool were_called(unsigned int first, unsigned int second, unsigned int third)
{
	return called[0] == first && called[1] == second && called[2] == third;
}

static void test_opening(void)
{
	size_t before = open_fds();
	struct loop l = {LOOP_CLOSED};

	memset(&kernel, 0, sizeof(kernel));
	kernel.timer_error = EMFILE;
	is_u64(-loop_open(&l, wanted, 2), EMFILE, "no timer");
	loop_close(&l);
	kernel.timer_error = 0;
	kernel.poll_error = ENOMEM;
	is_u64(-loop_open(&l, wanted, 2), ENOMEM, "no memory");
	loop_close(&l);
	is_u64(open_fds(), before, "nothing is open after the end");
	begin();
	is_u64(open_fds(), before + 3 + 6, "signals, a timer, and what waits for both");
	loop_close(&loop);
	is_u64(open_fds(), before + 6, "these are closed");
	ok(loop.signals == -1 && loop.timer == -1 && loop.poll == -1 && !loop.files,
	   "and no file is watched");
	loop_close(&loop);
	is_u64(open_fds(), before + 6, "a second end closes nothing more");
	end();
}

static void test_watching(void)
{
	begin();
	is_u64(kernel.events, EPOLLIN, "a file that can be read");
	is_u64(loop.files, 3, "three files");
	loop_forget(&loop, pipes[0][0]);
	is_u64(loop_watch_priority(&loop, pipes[0][0], on_first), 0, "a file with urgent data");
	is_u64(kernel.events, EPOLLPRI, "is watched for these");
	ok(-loop_watch(&loop, pipes[0][0], on_first) == EEXIST && loop.files == 3,
	   "a file is watched once");
	ok(-loop_watch_priority(&loop, 999, on_first) == EBADF && loop.files == 3,
	   "a file that is not open is not watched");
	ok(!loop_watch_priority(&loop, -1, on_first) && loop.files == 3, "none is none to watch");
	end();
}

static void test_waiting(void)
{
	begin();
	put(0, 0);
	is_u64(loop_wait(&loop, NO_TIMEOUT), 1, "a file is ready");
	kernel.wait_error = EINTR;
	is_u64(loop_wait(&loop, NO_TIMEOUT), 0, "a signal handler interrupts the wait");
	is_u64(loop_dispatch(&loop), 0, "then");
	ok(were_called(0, 0, 0), "nothing is ready");
	is_u64(loop_once(&loop, NO_TIMEOUT), 0, "this is no failure");
	kernel.wait_error = EINVAL;
	is_u64(-loop_once(&loop, NO_TIMEOUT), EINVAL, "other errors are");
	ok(were_called(0, 0, 0), "nothing is called");
	kernel.wait_error = 0;
	is_u64(loop_once(&loop, 0), 0, "the file is still ready");
	ok(were_called(1, 0, 0), "its callback is called");
	is_u64(loop_dispatch(&loop), 0, "without another wait");
	ok(were_called(1, 0, 0), "it is not called again");
	end();
}

static void test_ends_of_rounds(void)
{
	begin();
	put(0, 2);
	answer = -EIO;
	is_u64(-loop_once(&loop, 0), EIO, "a callback fails");
	is_u64(called[0] + called[1] + called[2], 1, "the others of the round wait");
	answer = 1;
	is_u64(loop_once(&loop, 0), 1, "a callback ends the round");
	is_u64(called[0] + called[1] + called[2], 2, "the others wait");
	answer = 0;
	loop_once(&loop, 0);
	is_u64(called[0] + called[1] + called[2], 5, "the next round calls all");
	end();
	begin();
	put(0, 2);
	forgets[0] = pipes[0][0];
	forgets[1] = pipes[1][0];
	is_u64(loop_once(&loop, 0), 0, "files that a callback forgot do not end the round");
	ok(called[2] == 1 && called[0] + called[1] <= 1, "they are not called");
	end();
	begin();
	put(0, 0);
	put(2, 2);
	forgets[0] = pipes[2][0];
	is_u64(loop_once(&loop, 0), 0, "also if it is the file that was added last");
	ok(called[0] == 1 && loop.files == 2, "the first file is called");
	is_u64(called[2], 0, "the forgotten one is not");
	end();
}

static void test_forgetting(void)
{
	for (size_t gone = 0; gone < 3; gone++) {
		begin();
		loop_forget(&loop, pipes[gone][0]);
		is_u64(loop.files, 2, "two files are left");
		loop_forget(&loop, pipes[gone][0]);
		is_u64(loop.files, 2, "a file is forgotten once");
		put(0, 2);
		is_u64(loop_once(&loop, 0), 0, "a round");
		ok(were_called(gone != 0, gone != 1, gone != 2), "calls the two");
		end();
	}
}

static void test_timer(void)
{
	begin();
	is_u64(loop_every(&loop, 1), 0, "a timer expires");
	is_u64(loop_wait(&loop, NO_TIMEOUT), 1, "it is ready");
	is_u64(loop_every(&loop, HOUR_NS + 7), 0, "then it is set again");
	ok(kernel.set.it_value.tv_sec == 3600 && kernel.set.it_value.tv_nsec == 7 &&
		   kernel.set.it_interval.tv_sec == 3600 && kernel.set.it_interval.tv_nsec == 7,
	   "to an hour");
	is_u64(loop_dispatch(&loop), 0, "a round");
	is_u64(timer, 0, "does not call it before");
	loop_every(&loop, 1);
	answer = -EBUSY;
	is_u64(-loop_once(&loop, NO_TIMEOUT), EBUSY, "its callback can fail");
	is_u64(timer, 1, "it was called");
	kernel.set_error = EINVAL;
	is_u64(-loop_every(&loop, 1), EINVAL, "a timer that cannot be set");
	end();
}

static void test_signals(void)
{
	signal(SIGUSR1, SIG_DFL); /* a parent may have ignored them */
	signal(SIGUSR2, SIG_DFL);
	begin();
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	answer = -EIO;
	is_u64(-loop_once(&loop, 0), EIO, "the callback of a signal fails");
	is_u64(signals, 1, "the second signal waits");
	answer = 0;
	is_u64(loop_once(&loop, 0), 0, "the next round");
	is_u64(signals, 2, "takes it");
	end();
}

int main(void)
{
	test_opening();
	test_watching();
	test_waiting();
	test_ends_of_rounds();
	test_forgetting();
	test_timer();
	test_signals();
	return tap_done();
}
