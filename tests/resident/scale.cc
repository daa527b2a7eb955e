// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A large program, to measure what `faultscope memory` costs.
 *
 * usage: scale MIB THREADS
 *
 * Holds MIB of memory in pages of 4 KiB, and THREADS threads that wait. One more thread maps and
 * unmaps a page again and again. For each line of standard input, prints the longest and the
 * 99.9th percentile of these pairs of calls since the last line, in ns.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

static std::mutex lock;
static std::vector<long> took;

static long now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *wait_for_end(void *)
{
	pause();
	return NULL;
}

static void *map_and_unmap(void *)
{
	for (;;) {
		long begin = now();
		void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(at, 4096);
		begin = now() - begin;
		{
			std::lock_guard<std::mutex> held(lock);

			took.push_back(begin);
		}
		usleep(50);
	}
}

__attribute__((noinline)) static void hold_pages(size_t bytes)
{
	char *at = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	for (size_t i = 0; i < bytes; i += 4096)
		at[i] = 1;
}

static void start(void *(*body)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_create(&thread, &attr, body, NULL))
		exit(1);
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc != 3)
		return 2;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (long i = atol(argv[2]); i > 0; i--)
		start(wait_for_end);
	hold_pages((size_t)atol(argv[1]) << 20);
	printf("{\"holds\":{\"hold_pages\":%zu}}\n", (size_t)atol(argv[1]) << 20);
	fflush(stdout);
	start(map_and_unmap);
	while (fgets(line, sizeof(line), stdin)) {
		std::lock_guard<std::mutex> held(lock);

		std::sort(took.begin(), took.end());
		printf("%ld %ld %zu\n", took.empty() ? 0 : took.back(),
		       took.empty() ? 0 : took[took.size() * 999 / 1000], took.size());
		fflush(stdout);
		took.clear();
	}
	return 0;
}
