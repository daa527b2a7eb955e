/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the time for N operations of one kind. One or several threads each run 40 batches of
 * operations, below CALLS recursive calls.
 */
#include "common.h"

#include <sched.h>

#define BATCHES 40
#define NOINLINE __attribute__((noinline, noclone))
#define POOL_PAGES 512L

struct worker {
	pthread_t thread;
	long index;
	char *pool;
	long long took[BATCHES];
};

static long per_batch;
static long pin_cpu = -1;
static pthread_barrier_t batch_start;
static void (*operate)(char *pool, long count);
static clockid_t clock_of_kind;
static long frames; /* number of recursive calls below which the operations run */
static bool frame_pointers;

/* After each pass, the pages are freed, so that the next pass faults again. */
static void touch_pool(char *pool, long count)
{
	for (long pages; count; count -= pages) {
		pages = count < POOL_PAGES ? count : POOL_PAGES;
		write_pages(pool, pages);
		madvise(pool, pages * PAGE_BYTES, MADV_DONTNEED);
	}
}

static void map_and_unmap(char *pool, long count)
{
	(void)pool;
	for (long i = 0; i < count; i++) {
		void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED || munmap(page, PAGE_BYTES))
			die("map and unmap");
	}
}

static void open_and_close(char *pool, long count)
{
	(void)pool;
	for (long i = 0; i < count; i++)
		if (close(open("/dev/null", O_RDONLY | O_CLOEXEC)))
			die("open and close");
}

static void ask_parent(char *pool, long count)
{
	(void)pool;
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
}

static void fork_and_reap(char *pool, long count)
{
	(void)pool;
	for (long i = 0; i < count; i++) {
		pid_t child = fork_or_die();

		if (!child)
			_exit(0);
		if (waitpid(child, NULL, 0) != child)
			die("waitpid");
	}
}

/*
 * For page faults, the program measures CPU time. For system calls, it measures elapsed time,
 * because system calls may wait.
 */
static const struct {
	const char *name;
	void (*operate)(char *pool, long count);
	clockid_t clock;
} kinds[] = {
	{ "fault", touch_pool, CLOCK_THREAD_CPUTIME_ID },
	{ "mapunmap", map_and_unmap, CLOCK_MONOTONIC },
	{ "openclose", open_and_close, CLOCK_MONOTONIC },
	{ "getppid", ask_parent, CLOCK_MONOTONIC },
	{ "fork", fork_and_reap, CLOCK_MONOTONIC },
};

#pragma GCC push_options
#pragma GCC optimize("omit-frame-pointer", "no-optimize-sibling-calls")
static NOINLINE void operate_below(long calls, char *pool)
{
	if (calls)
		operate_below(calls - 1, pool);
	else
		operate(pool, per_batch);
	__asm__ volatile("" ::: "memory");
}
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")
static NOINLINE void operate_below_framed(long calls, char *pool)
{
	if (calls)
		operate_below_framed(calls - 1, pool);
	else
		operate(pool, per_batch);
	__asm__ volatile("" ::: "memory");
}
#pragma GCC pop_options

static long long passed_ns(void)
{
	struct timespec now;

	clock_gettime(clock_of_kind, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* Pins thread number `index` to CPU number pin_cpu + index, modulo the number of CPUs. */
static void pin(long index)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((pin_cpu + index) % cpus, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("pin to cpu %ld", (pin_cpu + index) % cpus);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	long long start;

	if (pin_cpu >= 0)
		pin(worker->index);
	for (int i = 0; i < BATCHES; i++) {
		pthread_barrier_wait(&batch_start);
		start = passed_ns();
		if (frame_pointers)
			operate_below_framed(frames, worker->pool);
		else
			operate_below(frames, worker->pool);
		worker->took[i] = passed_ns() - start;
	}
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_truth(const char *kind, const struct worker *workers, long threads)
{
	double ns[BATCHES] = { 0 };

	for (int i = 0; i < BATCHES; i++) {
		for (long j = 0; j < threads; j++)
			ns[i] += workers[j].took[i];
		ns[i] /= (double)per_batch * threads;
	}
	qsort(ns, BATCHES, sizeof(ns[0]), by_size);
	truth_open();
	truth_text("kind", kind);
	truth_number("threads", threads);
	truth_number("ops", per_batch * BATCHES * threads);
	/* the 10th percentile leaves out batches that other programs slowed down */
	printf(",\"ns_per_op\":%.2f", ns[BATCHES / 10]);
	truth_close();
}

int main(int argc, char **argv)
{
	static const char usage[] = "fault|mapunmap|openclose|getppid|fork N [--threads T] "
				    "[--pin CPU] [--frames CALLS [--frame-pointers]]";
	long threads = 1;
	const struct opt opts[] = {
		{ "threads", OPT_NUMBER, &threads },
		{ "pin", OPT_NUMBER, &pin_cpu },
		{ "frames", OPT_NUMBER, &frames },
		{ "frame-pointers", OPT_FLAG, &frame_pointers },
		{ 0 },
	};
	struct worker *workers;
	const char *words[2];

	parse_args(argc, argv, usage, opts, words, 2, 2);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, words[0]))
			operate = kinds[i].operate, clock_of_kind = kinds[i].clock;
	per_batch = parse_number(words[1]) / BATCHES;
	if (!operate || !per_batch || !threads)
		wrong_usage(usage);
	workers = calloc(threads, sizeof(*workers));
	if (!workers)
		die("calloc");
	pthread_barrier_init(&batch_start, NULL, threads);
	for (long i = 0; i < threads; i++) {
		workers[i].index = i;
		workers[i].pool = map_pages(POOL_PAGES);
	}
	wait_for_go();

	for (long i = 1; i < threads; i++)
		workers[i].thread = start_thread(work, &workers[i]);
	work(&workers[0]);
	for (long i = 1; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	print_truth(words[0], workers, threads);
	return 0;
}
