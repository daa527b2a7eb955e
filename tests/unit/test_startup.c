// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the thread that waits for signals while a session starts: that it waits without a timeout,
 * and that a session starts without it if the thread, or what it needs, cannot be made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "open_files.h"
#include "session/startup.h"
#include "tap.h"

/* A call that fails. */
enum failing { NONE, EVENTFD, EPOLL, WATCH, THREAD, NR_FAILING };

static enum failing failing;
static unsigned int watches; /* files that were added to an event loop */
static int waits, timeout;   /* number of waits, and the timeout of the last one */
static int raised;	     /* signal by which the process was to end; 0: none */

static int fail(int number)
{
	errno = number;
	return -1;
}

int eventfd(unsigned int value, int flags)
{
	return failing == EVENTFD ? fail(EMFILE) : (int)syscall(SYS_eventfd2, value, flags);
}

int epoll_create1(int flags)
{
	return failing == EPOLL ? fail(EMFILE) : (int)syscall(SYS_epoll_create1, flags);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	if (failing == WATCH && ++watches == 3) /* signals and timer come first */
		return fail(ENOMEM);
	return syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
	waits++;
	timeout = timeout_ms;
	return syscall(SYS_epoll_pwait, epoll, events, most, timeout_ms, NULL, 8);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		real = (typeof(real))dlsym(RTLD_NEXT, "pthread_create");
	return failing == THREAD ? EAGAIN : real(thread, attr, run, arg);
}

int raise(int number)
{
	raised = number;
	return 0;
}

static struct session s;
static struct options o;

static void test_failures(void)
{
	static const char *const names[NR_FAILING] = {"a thread", "no eventfd", "no epoll",
						      "no memory for a file", "no thread"};

	for (failing = NONE; failing < NR_FAILING; failing++) {
		size_t fds = open_fds();
		struct startup st;

		watches = 0;
		startup_begin(&st, &s);
		ok(failing == NONE ? st.ends >= 0 : st.ends == -1, "%s", names[failing]);
		is_u64(open_fds(), failing == NONE ? fds + 4 : fds, "files of the thread");
		startup_end(&st);
		ok(st.ends == -1 && st.loop.poll == -1, "it has ended");
		is_u64(open_fds(), fds, "no file is left");
	}
	failing = NONE;
}

/* The thread waits once: until the session has started. */
static void test_wait(void)
{
	struct startup st;

	close(STDIN_FILENO);
	waits = 0;
	startup_begin(&st, &s);
	is_u64(st.ends, 0, "the descriptor 0 is one like others");
	startup_end(&st);
	is_u64(waits, 1, "it is not woken before");
	ok(timeout == -1, "it waits without a timeout");
}

/* A process that its signal does not end exits with a status that names the signal. */
static void test_status(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			struct startup st;
			sigset_t all;

			signal(numbers[i], SIG_DFL);
			sigfillset(&all);
			sigdelset(&all, SIGALRM); /* ends a process that does not end */
			sigprocmask(SIG_BLOCK, &all, NULL);
			alarm(10);
			startup_begin(&st, &s);
			kill(getpid(), numbers[i]);
			for (;;)
				pause();
		}
		waitpid(child, &status, 0);
		ok(WIFEXITED(status) && WEXITSTATUS(status) == 128 + numbers[i], "signal %d: %x",
		   numbers[i], status);
	}
}

int main(void)
{
	s = (struct session){.o = &o, .out.file = OUTPUT_NONE, .out.junit = OUTPUT_NONE};
	test_failures();
	test_wait();
	test_status();
	return tap_done();
}
