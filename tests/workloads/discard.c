/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Touches pages and frees them again. A thread runs on another CPU, so that the kernel must flush
 * the TLB of this CPU each time. Some of the madvise() calls free nothing.
 */
#include "common.h"

#include <sched.h>

static long rounds, pages;

/* Pins the thread to the nth CPU that the process may use. Returns the number of such CPUs. */
static int pin(int nth)
{
	static cpu_set_t may;
	cpu_set_t one;
	int count = 0;

	if (!CPU_COUNT(&may) && sched_getaffinity(0, sizeof(may), &may))
		die("sched_getaffinity");
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may) && count++ == nth)
			CPU_SET(cpu, &one);
	if (count > nth && sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
	return count;
}

static volatile bool running;

static void *run_beside(void *arg)
{
	(void)arg;
	for (;;)
		running = true;
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct opt opts[] = { { 0 } };
	long long given = 0;
	const char *words[2];
	long cpus;
	char *area;

	parse_args(argc, argv, "ROUNDS PAGES", opts, words, 2, 2);
	rounds = parse_number(words[0]);
	pages = parse_number(words[1]);
	area = map_pages(pages);
	cpus = pin(1);
	/* The thread does not exit before the process, since its exit would free memory. */
	start_thread(run_beside, NULL);
	while (!running)
		sched_yield();
	pin(0);
	wait_for_go();
	for (long i = 0; i < rounds; i++) {
		write_pages(area, pages);
		if (madvise(area, pages * PAGE_BYTES, i % 2 ? MADV_DONTNEED : MADV_FREE))
			die("madvise");
		given += pages * PAGE_BYTES;
	}
	madvise(area, pages * PAGE_BYTES, MADV_WILLNEED);
	if (!madvise(area + 1, PAGE_BYTES, MADV_DONTNEED))
		die("madvise of no whole page");
	truth_open();
	truth_number("given_bytes", given);
	truth_number("cpus", cpus);
	truth_close();
	return 0;
}
