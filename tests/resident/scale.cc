// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A large program, to measure what `faultscope memory` costs.
 *
 * usage: scale MIB THREADS [TIMES [FORKS]]
 *
 * Holds MIB of memory in pages of 4 KiB, and THREADS threads that wait. If TIMES is above 1, maps the
 * same shared memory so many times, and touches each page in each mapping: the kernel counts it as
 * often. One more thread maps and unmaps a page again and again. If FORKS is 1, another one forks
 * without a pause; each child writes to 64 of the pages. For each line of standard input, prints the
 * longest and the 99.9th percentile of the pairs of calls since the last line, in ns, and the numbers
 * of these pairs and of the forks.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

static std::mutex lock;
static std::vector<long> took;
static size_t forks;
static char *held;

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

static void *fork_again(void *)
{
	for (;;) {
		pid_t child = fork();

		if (!child) {
			for (int i = 0; i < 64; i++)
				held[i * 4096] = 2;
			_exit(0);
		}
		waitpid(child, NULL, 0);
		std::lock_guard<std::mutex> counted(lock);

		forks++;
	}
}

__attribute__((noinline)) static void hold_pages(size_t bytes, int fd)
{
	char *at = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		exit(1);
	held = at;
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
	size_t bytes = argc > 2 ? (size_t)atol(argv[1]) << 20 : 0;
	int times = argc > 3 ? atoi(argv[3]) : 1, fd = times > 1 ? memfd_create("scale", 0) : -1;
	char line[16];

	if (argc < 3 || (fd >= 0 && ftruncate(fd, bytes)))
		return 2;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (long i = atol(argv[2]); i > 0; i--)
		start(wait_for_end);
	for (int i = 0; i < times; i++)
		hold_pages(bytes, fd);
	printf("{\"holds\":{\"hold_pages\":%zu}}\n", bytes * times);
	fflush(stdout);
	start(map_and_unmap);
	if (argc > 4 && atoi(argv[4]))
		start(fork_again);
	while (fgets(line, sizeof(line), stdin)) {
		std::lock_guard<std::mutex> held(lock);

		std::sort(took.begin(), took.end());
		printf("%ld %ld %zu %zu\n", took.empty() ? 0 : took.back(),
		       took.empty() ? 0 : took[took.size() * 999 / 1000], took.size(), forks);
		fflush(stdout);
		took.clear();
		forks = 0;
	}
	return 0;
}
