/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs processes or threads whose mappings and fds grow at the same time.
 *
 * "apart": K processes. Each process creates mappings and fds in a function of its own, and its
 * files have a name of their own. The threads of each process fault, map and unmap.
 *
 * "together": K threads. In the same function, all threads open a file with the same name at the
 * same instant, and then the next file.
 *
 * "first": N processes, one after the other. In each, K threads make their first calls and faults
 * at the same instant.
 *
 * "reused": a process exits with N open fds. Then another process with the same pid opens N fds and
 * closes them.
 *
 * "brief": N times, a process opens and closes K files, and then opens a file that it keeps open.
 */
#include "common.h"

#include <sched.h>
#include <sys/prctl.h>

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")

#define LAST_PID      "/proc/sys/kernel/ns_last_pid"
#define MOST_TRIES    100
#define MOST_CHILDREN 8
#define MOST_THREADS  64
#define NOISY_THREADS 2

static long number, each;
static volatile bool over;

static int open_named(const char *prefix, long n)
{
	char name[16];
	int at = snprintf(name, sizeof(name), "%s", prefix), fd;

	/* Names have only letters, because digits in names are folded. */
	for (int i = 0; n >= 0 && i < 6; i++, n /= 16)
		name[at++] = 'g' + n % 16;
	name[at] = 0;
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		die("memfd_create %s", name);
	return fd;
}

__attribute__((noinline)) static void grow(const char *name, long n)
{
	int fd = open_named(name, -1);

	if (map_unmergeable(n) == MAP_FAILED)
		die("mmap");
	if (n % 4)
		close(fd);
}

__attribute__((noinline)) static void churn(void)
{
	const long pages = 32;
	char *at = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	write_pages(at, pages);
	munmap(at, pages * PAGE_BYTES);
}

/*
 * Defines a function for one process. The function is in the call stacks of all mappings and fds
 * that this process creates.
 */
#define OWN(letter)                                                                                \
	__attribute__((noinline)) static void own_##letter(long n)                                 \
	{                                                                                          \
		if (n < 0)                                                                         \
			churn();                                                                   \
		else                                                                               \
			grow("own_" #letter, n);                                                   \
		__asm__ volatile("" ::: "memory");                                                 \
	}
OWN(g)
OWN(h) OWN(i) OWN(j) OWN(k) OWN(l) OWN(m) OWN(n)

	static void (*const own[MOST_CHILDREN])(long) = {
		own_g, own_h, own_i, own_j, own_k, own_l, own_m, own_n,
};

static void *make_noise(void *child)
{
	while (!over)
		own[(long)child](-1);
	return NULL;
}

static void grow_apart(long child)
{
	char name[] = {'o', 'w', 'n', '_', 'g' + child, 0};
	pthread_t noise[NOISY_THREADS];

	prctl(PR_SET_NAME, name);
	for (long i = 0; i < NOISY_THREADS; i++)
		noise[i] = start_thread(make_noise, (void *)child);
	for (long n = 0; n < each; n++)
		own[child](n);
	over = true;
	for (int i = 0; i < NOISY_THREADS; i++)
		pthread_join(noise[i], NULL);
}

static void run_apart(void)
{
	pid_t children[MOST_CHILDREN];
	int done[2], go[2];
	char byte = 0;

	if (pipe(done) || pipe(go))
		die("pipe");
	wait_for_go();
	for (long i = 0; i < number; i++) {
		children[i] = fork_or_die();
		if (children[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		grow_apart(i);
		if (write(done[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
			die("pipe of child %ld", i);
		_exit(0);
	}
	for (long i = 0; i < number; i++)
		if (read(done[0], &byte, 1) != 1)
			die("a child ended");
	truth_open();
	printf(",\"children\":[");
	for (long i = 0; i < number; i++)
		printf("%s%d", i ? "," : "", children[i]);
	printf("]");
	truth_close();
	for (long i = 0; i < number; i++)
		if (write(go[1], &byte, 1) != 1)
			die("pipe");
	while (wait(NULL) > 0)
		;
}

/* Number of threads that have reached the next file. Each thread spins until all have. */
static volatile long arrived;

static void meet(long n)
{
	__sync_fetch_and_add(&arrived, 1);
	for (int spins = 0; arrived < (n + 1) * number; spins++)
		if (spins % 10000 == 9999)
			sched_yield();
}

__attribute__((noinline)) static void open_together(long n)
{
	meet(n);
	open_named("all_", n);
	__asm__ volatile("" ::: "memory");
}

static void *meet_and_churn(void *arg)
{
	meet(0);
	churn();
	meet(1);
	open_named("first", -1);
	return arg;
}

static void run_first(void)
{
	pthread_t thread[MOST_THREADS];

	wait_for_go();
	for (long n = 0; n < each; n++) {
		if (fork_or_die()) {
			wait(NULL);
			continue;
		}
		for (long i = 0; i < number; i++)
			thread[i] = start_thread(meet_and_churn, NULL);
		for (long i = 0; i < number; i++)
			pthread_join(thread[i], NULL);
		_exit(0);
	}
	truth_open();
	truth_number("made", number * each);
	truth_close();
}

static void *grow_together(void *arg)
{
	for (long n = 0; n < each; n++)
		open_together(n);
	return arg;
}

static void run_together(void)
{
	pthread_t thread[MOST_THREADS];

	wait_for_go();
	for (long i = 0; i < number; i++)
		thread[i] = start_thread(grow_together, NULL);
	for (long i = 0; i < number; i++)
		pthread_join(thread[i], NULL);
	truth_open();
	truth_number("made", number * each);
	truth_close();
}

__attribute__((noinline)) static void open_many(const char *name, int *fd)
{
	for (long n = 0; n < each; n++)
		fd[n] = open_named(name, -1);
}

static void live_second(const int *go, const int *done)
{
	int *fd = calloc(each, sizeof(*fd));
	char byte = 0;

	open_many("second", fd);
	for (long n = 0; n < each; n++)
		close(fd[n]);
	if (write(done[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
		die("pipe");
	_exit(0);
}

static pid_t live_first(void)
{
	pid_t child = fork_or_die();

	if (!child) {
		open_many("first", calloc(each, sizeof(int)));
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return child;
}

static void choose_next_pid(pid_t pid)
{
	char text[16];
	int fd = open(LAST_PID, O_WRONLY | O_CLOEXEC);

	snprintf(text, sizeof(text), "%d", pid - 1);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s", LAST_PID);
	close(fd);
}

static void run_reused(void)
{
	int done[2], go[2];
	pid_t first, second = 0;
	char byte = 0;

	if (pipe(done) || pipe(go))
		die("pipe");
	wait_for_go();
	first = live_first();
	for (int tries = 0; second != first && tries < MOST_TRIES; tries++) {
		choose_next_pid(first);
		second = fork_or_die();
		if (!second) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getpid() != first)
				_exit(0);
			live_second(go, done);
		}
		if (second != first)
			waitpid(second, NULL, 0);
	}
	if (second == first && read(done[0], &byte, 1) != 1)
		die("the child ended");
	truth_open();
	truth_number("reused", second == first ? second : 0);
	truth_close();
	if (write(go[1], &byte, 1) == 1)
		wait(NULL);
}

__attribute__((noinline)) static void open_briefly(void)
{
	for (long i = 0; i < number; i++) {
		close(open_named("brief", -1));
	}
}

static void run_brief(void)
{
	wait_for_go();
	for (long i = 0; i < each; i++) {
		open_briefly();
		open_named("kept", -1);
	}
	truth_open();
	truth_number("brief", number * each);
	truth_number("kept", each);
	truth_close();
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	const char *words[3];

	parse_args(argc, argv, "apart|together|first|reused|brief K N", NULL, words, 3, 3);
	number = parse_number(words[1]);
	each = parse_number(words[2]);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("setrlimit RLIMIT_NOFILE");
	if (!strcmp(words[0], "apart") && number <= MOST_CHILDREN)
		run_apart();
	else if (!strcmp(words[0], "together") && number <= MOST_THREADS)
		run_together();
	else if (!strcmp(words[0], "first") && number <= MOST_THREADS)
		run_first();
	else if (!strcmp(words[0], "reused"))
		run_reused();
	else if (!strcmp(words[0], "brief"))
		run_brief();
	else
		wrong_usage("apart|together|first|reused|brief K N");
	return 0;
}
