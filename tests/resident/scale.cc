// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A large program, to measure what `faultscope memory` costs.
 *
 * usage: scale MIB THREADS [TIMES [FORKS [MAPPINGS]]]
 *
 * Holds MIB of memory in pages of 4 KiB, and THREADS threads that wait. If TIMES is above 1, maps the
 * same shared memory so many times, and touches each page in each mapping: the kernel counts it as
 * often. One more thread maps and unmaps a page again and again. If FORKS is 1, another one forks
 * without a pause; each child writes to 64 of the pages. MAPPINGS is a number of further mappings,
 * of one page each, without resident memory.
 *
 * For each line of standard input, prints what happened since the last line: the waits for mmap_lock
 * and the durations of the pairs of mmap() and munmap(), each as the number of pairs, the 99.9th
 * percentile, the longest, and the number above 1 ms; then the number of forks. Times are in ns.
 *
 * The wait is the part of the duration in which the thread was asleep: it neither ran, nor waited for
 * a CPU (run_delay of /proc/thread-self/schedstat, Documentation/scheduler/sched-stats.rst). In these
 * calls, a thread sleeps only for mmap_lock. If it did not sleep (ru_nvcsw), the wait is 0, whatever
 * interrupts and the hypervisor took. Before it sleeps, it may spin for up to 25 us
 * (rwsem_rspin_threshold(), kernel/locking/rwsem.c), which is not in the wait.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

static std::mutex lock;
static std::vector<long> took, waited;
static size_t forks;
static char *held;

static long time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Returns how long this thread has been ready to run, but had no CPU. */
static long run_delay(int schedstat)
{
	char text[64] = "";
	long delay = 0;

	if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0 || sscanf(text, "%*d %ld", &delay) != 1)
		exit(1);
	return delay;
}

static void *wait_for_end(void *)
{
	pause();
	return NULL;
}

/* Returns how often this thread went to sleep. */
static long sleeps()
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void *map_and_unmap(void *)
{
	int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);

	for (;;) {
		long wait = time_of(CLOCK_MONOTONIC), cpu = time_of(CLOCK_THREAD_CPUTIME_ID);
		long delay = run_delay(schedstat), slept = sleeps(), begin = time_of(CLOCK_MONOTONIC);
		void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(at, 4096);
		begin = time_of(CLOCK_MONOTONIC) - begin;
		slept = sleeps() - slept;
		delay = run_delay(schedstat) - delay;
		cpu = time_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
		wait = time_of(CLOCK_MONOTONIC) - wait - cpu - delay;
		{
			std::lock_guard<std::mutex> held(lock);

			took.push_back(begin);
			waited.push_back(slept ? std::max(wait, 0L) : 0);
		}
		usleep(50);
	}
}

static void print_times(std::vector<long> &times)
{
	std::sort(times.begin(), times.end());
	printf("%zu %ld %ld %zu ", times.size(), times.empty() ? 0 : times[times.size() * 999 / 1000],
	       times.empty() ? 0 : times.back(),
	       (size_t)(times.end() - std::upper_bound(times.begin(), times.end(), 1000000L)));
	times.clear();
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

/* Neighbours have different rights, so that the kernel does not merge them. */
static void map_many(size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0) == MAP_FAILED)
			exit(1);
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
	map_many(argc > 5 ? atol(argv[5]) : 0);
	printf("{\"holds\":{\"hold_pages\":%zu}}\n", bytes * times);
	fflush(stdout);
	start(map_and_unmap);
	if (argc > 4 && atoi(argv[4]))
		start(fork_again);
	while (fgets(line, sizeof(line), stdin)) {
		std::lock_guard<std::mutex> held(lock);

		print_times(waited);
		print_times(took);
		printf("%zu\n", forks);
		fflush(stdout);
		forks = 0;
	}
	_exit(0); /* other threads still use the static variables */
}
