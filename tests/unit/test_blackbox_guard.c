// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the guard, a thread that takes over if a panic waits on the CPU of the flight recorder. The
 * CPUs, and the memory in which BPF programs announce a panic, are those of this test.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "crash/blackbox_guard.h"
#include "made_precursors.h"
#include "tap.h"

#define OWN_CPU 0 /* of the thread that is guarded */

static atomic_int main_cpus, guard_cpus; /* bit i: the thread may use CPU i */
static atomic_int priority, policy;
static struct fs_blackbox_shared *shared;
static pthread_t main_thread;
static sem_t acted;
static int acts;

int sched_getcpu(void)
{
	return OWN_CPU;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	int bits = 0;

	(void)pid, (void)size;
	for (int i = 0; i < 31; i++)
		bits |= CPU_ISSET(i, set) ? 1 << i : 0;
	atomic_store(pthread_equal(pthread_self(), main_thread) ? &main_cpus : &guard_cpus, bits);
	return 0;
}

int sched_setscheduler(pid_t pid, int wanted, const struct sched_param *param)
{
	(void)pid;
	atomic_store(&policy, wanted);
	atomic_store(&priority, param->sched_priority);
	return 0;
}

static void act(void *ctx)
{
	acts += ctx == &acts;
	sem_post(&acted);
}

static struct precursors *begin(void)
{
	char error[512];
	struct precursors *p;

	made_begin();
	if (precursors_open(&p, NULL, error, sizeof(error)))
		abort();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      made_by_name(".data.shared")->fd, 0);
	acts = 0;
	sem_init(&acted, 0, 0);
	return p;
}

static void end(struct precursors *p)
{
	munmap(shared, sizeof(*shared));
	precursors_close(p);
}

static void test_calm(void)
{
	struct precursors *p = begin();
	struct guard *g;

	cpus = 3;
	g = guard_start(p, act, &acts);
	ok(g, "a guard");
	is_u64(main_cpus, 3, "the recorder keeps the first CPUs");
	is_u64(guard_cpus, 4, "the guard has the last one");
	is_u64(policy, SCHED_FIFO | SCHED_RESET_ON_FORK, "it runs before others");
	is_u64(priority, 1, "its priority");
	ok(guard_pass(g), "the recorder goes on");
	guard_stop(g);
	is_u64(acts, 0, "without a panic, the guard does nothing");
	ok(guard_pass(NULL), "without a guard, the recorder goes on");
	guard_stop(NULL);
	end(p);
}

static void test_panic(void)
{
	struct precursors *p = begin();
	struct guard *g = guard_start(p, act, &acts);

	shared->panic_cpu = OWN_CPU + 1;
	sem_wait(&acted);
	ok(!guard_pass(g), "a panic on the CPU of the recorder ends it");
	guard_stop(g);
	is_u64(acts, 1, "the guard acts once");
	end(p);
}

/* If the panic is on another CPU, the recorder itself can act. */
static void test_panic_elsewhere(void)
{
	struct precursors *p = begin();
	struct guard *g;

	shared->panic_cpu = OWN_CPU + 2;
	g = guard_start(p, act, &acts);
	usleep(100000); /* time in which a guard that is wrong would act */
	guard_stop(g);
	is_u64(acts, 0, "a panic on another CPU");
	end(p);
}

static void test_one_cpu(void)
{
	struct precursors *p = begin();

	cpus = 1;
	ok(!guard_start(p, act, &acts), "no guard without a CPU for it");
	end(p);
}

int main(void)
{
	main_thread = pthread_self();
	test_calm();
	test_panic();
	test_panic_elsewhere();
	test_one_cpu();
	return tap_done();
}
