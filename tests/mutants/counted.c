// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * This file is linked with the code that has gcov counters. A program that has confined itself with
 * Landlock and seccomp could not write its counters at exit. Therefore the functions in this file
 * replace the calls with which a program confines itself. They also make a process write its
 * counters that ends by _exit(), by SIGTERM or by a signal to itself. A process that would get
 * SIGKILL from its parent, or when its parent ends, gets SIGTERM before.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 2000 /* for a child to end by SIGTERM */

extern void __gcov_dump(void);

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_landlock_restrict_self || number == SYS_seccomp)
		return 0;
	if (number == SYS_exit || number == SYS_exit_group)
		__gcov_dump();
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int prctl(int option, ...)
{
	static int (*real)(int, ...);
	long a[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (option == PR_SET_SECCOMP)
		return 0;
	if (option == PR_SET_PDEATHSIG && a[0] == SIGKILL)
		a[0] = SIGTERM;
	if (!real)
		real = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
	return real(option, a[0], a[1], a[2], a[3]);
}

int raise(int number)
{
	if (number != SIGSTOP) /* a stopped process goes on, and counts further */
		__gcov_dump();
	return syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

/* Returns whether a child has ended, or is no child. */
static int has_ended(pid_t pid)
{
	siginfo_t info = {};

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

int kill(pid_t pid, int number)
{
	if (number == SIGKILL && pid > 0) {
		syscall(SYS_kill, pid, SIGTERM);
		for (int ms = 0; ms < WAIT_MS && !has_ended(pid); ms++)
			nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	return syscall(SYS_kill, pid, number);
}

static void write_counters(int number)
{
	__gcov_dump();
	signal(number, SIG_DFL);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

/* Programs without a handler of their own write their counters when a test ends them. */
__attribute__((constructor)) static void handle_end(void)
{
	struct sigaction old;

	if (!sigaction(SIGTERM, NULL, &old) && old.sa_handler == SIG_DFL)
		signal(SIGTERM, write_counters);
}

void _exit(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}
