// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "crash/blackbox_guard.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES (256 << 10)
#define LOOK_MS	    20 /* polling interval in ms, shorter than a panic waits */

struct guard {
	const struct precursors *p;
	void (*act)(void *ctx);
	void *ctx;
	pthread_t thread;
	int own_cpu;
	int ends; /* eventfd that ends the guard's thread */
	/* the guard's thread posts this semaphore when it needs no more privileges */
	sem_t placed;
	atomic_int cpu;	  /* CPU of the guarded thread */
	atomic_bool acts; /* true: the guard has taken over from the recorder */
};

/* Waits for up to `ms` milliseconds. Returns whether the guard's thread must end. */
static bool must_end(const struct guard *g, int ms)
{
	struct pollfd end = {g->ends, POLLIN, 0};

	return poll(&end, 1, ms) > 0;
}

static void *look(void *arg)
{
	struct sched_param first = {.sched_priority = 1};
	struct guard *g = arg;
	cpu_set_t own;
	__u64 cpu = 0;

	CPU_ZERO(&own);
	CPU_SET(g->own_cpu, &own);
	sched_setaffinity(0, sizeof(own), &own);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	sem_post(&g->placed);
	while (!cpu && !must_end(g, LOOK_MS))
		cpu = precursors_panic(g->p);
	if (cpu && (int)cpu - 1 == atomic_load(&g->cpu)) {
		atomic_store(&g->acts, true);
		g->act(g->ctx);
	}
	return NULL;
}

static int start_thread(struct guard *g)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -err;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(&g->thread, &attr, look, g);
	pthread_attr_destroy(&attr);
	while (!err && sem_wait(&g->placed))
		continue; /* interrupted by a signal: wait again */
	return -err;
}

/*
 * Pins the guard's thread to the last CPU that faultscope may use. The guarded thread keeps the
 * other CPUs.
 */
static bool share_cpus(struct guard *g)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) < 2)
		return false;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus))
			g->own_cpu = i;
	CPU_CLR(g->own_cpu, &cpus);
	return !sched_setaffinity(0, sizeof(cpus), &cpus);
}

struct guard *guard_start(const struct precursors *p, void (*act)(void *ctx), void *ctx)
{
	struct guard *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->p = p;
	g->act = act;
	g->ctx = ctx;
	sem_init(&g->placed, 0, 0);
	g->ends = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->ends >= 0 && share_cpus(g) && guard_pass(g) && !start_thread(g))
		return g;
	close(g->ends);
	sem_destroy(&g->placed);
	free(g);
	return NULL;
}

bool guard_pass(struct guard *g)
{
	if (!g)
		return true;
	atomic_store(&g->cpu, sched_getcpu());
	return !atomic_load(&g->acts);
}

void guard_stop(struct guard *g)
{
	const uint64_t one = 1;

	if (!g)
		return;
	if (write(g->ends, &one, sizeof(one)) == sizeof(one))
		pthread_join(g->thread, NULL);
	close(g->ends);
	sem_destroy(&g->placed);
	free(g);
}
