/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the CPU time of N operations of one kind. One or several threads each run 40 batches of
 * operations, below CALLS recursive calls.
 *
 * With the kind "serve", the program reads lines "KIND N" from standard input. For each line, it
 * runs the operations and prints a truth line.
 */
#include "common.h"

#include <sched.h>

#define BATCHES 40
#define PROGRAM "/bin/true" /* the program that an exec starts */
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
 * vfork() prevents page faults of the child before its exec. The child runs on the stack frame of
 * this function, which must therefore hold no variable of the caller.
 */
static NOINLINE pid_t start_program(void)
{
	static char *const argv[] = { PROGRAM, NULL };
	pid_t child = vfork();

	if (!child) {
		execv(PROGRAM, argv);
		_exit(1);
	}
	return child;
}

static void exec_and_reap(char *pool, long count)
{
	(void)pool;
	for (long i = 0; i < count; i++) {
		pid_t child = start_program();

		if (child < 0 || waitpid(child, NULL, 0) != child)
			die("start %s", PROGRAM);
	}
}

/* Sends SIGURG, which a process ignores by default. */
static void send_signal(char *pool, long count)
{
	pid_t self = getpid();

	(void)pool;
	for (long i = 0; i < count; i++)
		if (kill(self, SIGURG))
			die("kill");
}

static int to_partner[2], from_partner[2];
static pid_t partner;
static clockid_t partner_clock;

/* Starts a process that returns each byte until the pipe is closed. It inherits the CPU. */
static void start_partner(void)
{
	char byte;

	if (pipe2(to_partner, O_CLOEXEC) || pipe2(from_partner, O_CLOEXEC))
		die("pipe");
	partner = fork_or_die();
	if (!partner) {
		close(to_partner[1]);
		while (read(to_partner[0], &byte, 1) == 1)
			if (write(from_partner[1], &byte, 1) != 1)
				die("write to a pipe");
		_exit(0);
	}
	errno = clock_getcpuclockid(partner, &partner_clock);
	if (errno)
		die("CPU clock of a process");
}

static void end_partner(void)
{
	close(to_partner[1]);
	if (waitpid(partner, NULL, 0) != partner)
		die("waitpid");
	close(to_partner[0]);
	close(from_partner[0]);
	close(from_partner[1]);
	partner = 0;
}

/* Sends a byte to another process and waits for its answer: two context switches. */
static void pass_to_and_fro(char *pool, long count)
{
	char byte = 0;

	(void)pool;
	for (long i = 0; i < count; i++)
		if (write(to_partner[1], &byte, 1) != 1 || read(from_partner[0], &byte, 1) != 1)
			die("pass a byte");
}

/*
 * The CPU time of `fork` and `exec` includes that of their children, and the CPU time of `pipe`
 * that of its partner.
 */
static const struct {
	const char *name;
	void (*operate)(char *pool, long count);
	clockid_t clock;
} kinds[] = {
	{ "fault", touch_pool, CLOCK_THREAD_CPUTIME_ID },
	{ "mapunmap", map_and_unmap, CLOCK_THREAD_CPUTIME_ID },
	{ "openclose", open_and_close, CLOCK_THREAD_CPUTIME_ID },
	{ "getppid", ask_parent, CLOCK_THREAD_CPUTIME_ID },
	{ "signal", send_signal, CLOCK_THREAD_CPUTIME_ID },
	{ "pipe", pass_to_and_fro, CLOCK_THREAD_CPUTIME_ID },
	{ "fork", fork_and_reap, CLOCK_PROCESS_CPUTIME_ID },
	{ "exec", exec_and_reap, CLOCK_PROCESS_CPUTIME_ID },
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

static long long time_ns(struct timeval t)
{
	return t.tv_sec * NSEC_PER_SEC + t.tv_usec * 1000LL;
}

static long long clock_ns(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now))
		die("read a CPU clock");
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static long long passed_ns(void)
{
	struct rusage children = { 0 };

	if (clock_of_kind == CLOCK_PROCESS_CPUTIME_ID)
		getrusage(RUSAGE_CHILDREN, &children);
	return clock_ns(clock_of_kind) + (partner ? clock_ns(partner_clock) : 0) +
	       time_ns(children.ru_utime) + time_ns(children.ru_stime);
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

/* All threads work at once. The first thread is this one. */
static void work_all(struct worker *workers, long threads)
{
	if (pin_cpu >= 0)
		pin(0);
	if (operate == pass_to_and_fro)
		start_partner();
	for (long i = 1; i < threads; i++)
		workers[i].thread = start_thread(work, &workers[i]);
	work(&workers[0]);
	for (long i = 1; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	if (operate == pass_to_and_fro)
		end_partner();
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

static bool choose(const char *kind, long count)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, kind))
			operate = kinds[i].operate, clock_of_kind = kinds[i].clock;
	per_batch = count / BATCHES;
	return operate && per_batch;
}

static void serve(struct worker *worker)
{
	char line[64], kind[16];
	long count;

	while (fgets(line, sizeof(line), stdin)) {
		operate = NULL;
		if (sscanf(line, "%15s %ld", kind, &count) != 2 || !choose(kind, count)) {
			errno = 0;
			die("not a kind and a count: %s", line);
		}
		work_all(worker, 1);
		print_truth(kind, worker, 1);
	}
}

int main(int argc, char **argv)
{
	static const char usage[] = "fault|mapunmap|openclose|getppid|signal|pipe|fork|exec N "
				    "[--threads T] [--pin CPU] [--frames CALLS [--frame-pointers]]"
				    "|serve [--pin CPU]";
	long threads = 1;
	const struct opt opts[] = {
		{ "threads", OPT_NUMBER, &threads },
		{ "pin", OPT_NUMBER, &pin_cpu },
		{ "frames", OPT_NUMBER, &frames },
		{ "frame-pointers", OPT_FLAG, &frame_pointers },
		{ 0 },
	};
	struct worker *workers;
	const char *words[2] = { NULL };
	int found = parse_args(argc, argv, usage, opts, words, 1, 2);
	bool serves = !strcmp(words[0], "serve");

	if (serves ? found > 1 || threads != 1
		   : found < 2 || !choose(words[0], parse_number(words[1])) || !threads ||
			       (operate == pass_to_and_fro && threads != 1))
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
	if (serves) {
		serve(workers);
		return 0;
	}

	work_all(workers, threads);
	print_truth(words[0], workers, threads);
	return 0;
}
