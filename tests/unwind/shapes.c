// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Test program: runs chains of functions with frames of all shapes, with system calls in the
 * innermost function, also in threads and signal handlers. It exits with 0 after as many rounds as
 * its first argument says.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shapes.h"

#define PAGE 4096

static NOINLINE long at_the_bottom(long x)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	*(volatile char *)p = 1;
	munmap(p, PAGE);
	return syscall(SYS_getppid) + x;
}

static int from_signal;

static void on_signal(int number)
{
	sink += call_next(8, from_signal++);
}

static void raise_below(int depth, long x)
{
	if (depth)
		raise_below(depth - 1, x);
	else
		raise(x & 1 ? SIGUSR1 : SIGUSR2);
	sink++;
}

static void install(void)
{
	static char stack[1 << 18];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
	sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_signal, .sa_flags = SA_ONSTACK},
		  NULL);
}

static long rounds;

static void *in_thread(void *arg)
{
	for (long i = 0; i < rounds; i++)
		sink += call_next(5 + i % 40, (long)arg * 1000 + i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[3];

	rounds = argc > 1 ? atol(argv[1]) : 20;
	install();
	for (long i = 0; i < rounds; i++) {
		sink += call_next(5 + i % 60, i);
		raise_below(i % 5, i);
	}
	for (long i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, in_thread, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
