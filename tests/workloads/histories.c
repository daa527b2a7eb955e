/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs processes that do a random sequence of operations. They fault, map and open files, share
 * memory or file descriptors with children, exec from any thread, or continue after their first
 * thread has exited. At its end, each process prints the minimum number of pages that it wrote, and
 * the kernel's count of its page faults.
 */
#include "common.h"
#include <sched.h>
#include <sys/ptrace.h>

#define MOST_ALIVE	8
#define MOST_STEPS	8
#define MOST_PAGES	200
#define CHILD_STACK	(1 << 16)
#define NOBODY		65534
#define LAST_PID	"/proc/sys/kernel/ns_last_pid"
#define PID_REUSED_EACH 8 /* pids are reused in every 8th history */

/* State that a process passes to the program that it executes, as arguments after the word "on". */
static struct {
	long steps; /* number of steps that remain */
	unsigned long chance;
	long pages;	    /* minimum number of pages written until now */
	const char *helper; /* path of a set-user-ID root copy of this program */
	/*
	 * true in a pid namespace: the process prints no line, because its pid there differs from
	 * the pid that faultscope shows
	 */
	bool quiet;
} life;

static volatile bool leader_left;

static long by_chance(long most)
{
	life.chance ^= life.chance << 13;
	life.chance ^= life.chance >> 7;
	life.chance ^= life.chance << 17;
	return life.chance % most;
}

static void write_some(long most)
{
	long pages = 1 + by_chance(most);
	char *area = map_pages(pages);

	write_pages(area, pages);
	life.pages += pages;
	if (by_chance(2))
		munmap(area, pages * PAGE_BYTES);
}

static void map_some(void)
{
	long count = 1 + by_chance(20);
	void *at[20];

	for (long i = 0; i < count; i++)
		at[i] = map_unmergeable(i);
	for (long i = 0; i < count / 2; i++)
		munmap(at[i], PAGE_BYTES);
}

static void open_some(void)
{
	long count = 1 + by_chance(10);
	int fds[10];

	for (long i = 0; i < count; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (long i = 0; i < count; i++)
		close(fds[i]);
}

static void *write_in_thread(void *area)
{
	write_pages(area, MOST_PAGES);
	return NULL;
}

static void write_beside(void)
{
	char *area = map_pages(MOST_PAGES);
	pthread_t thread = start_thread(write_in_thread, area);

	pthread_join(thread, NULL);
	life.pages += MOST_PAGES;
	munmap(area, MOST_PAGES * PAGE_BYTES);
}

static void reap(pid_t child)
{
	while (waitpid(child, NULL, __WALL) < 0)
		if (errno != EINTR)
			die("waitpid");
}

/* The main function of a child that shares its parent's address space or file descriptors. */
static int write_and_end(void *area)
{
	write_pages(area, MOST_PAGES / 2);
	close(open("/dev/null", O_RDONLY));
	syscall(SYS_exit, 0);
	return 0;
}

static void share(int what)
{
	char *area = map_pages(MOST_PAGES / 2), *stack = map_pages(CHILD_STACK / PAGE_BYTES);
	pid_t child = clone(write_and_end, stack + CHILD_STACK, what | SIGCHLD, area);

	if (child < 0)
		die("clone");
	reap(child);
	munmap(area, MOST_PAGES / 2 * PAGE_BYTES);
	munmap(stack, CHILD_STACK);
}

static void vfork_brief(void)
{
	pid_t child = vfork();

	if (child < 0)
		die("vfork");
	if (!child) {
		execl("/proc/thread-self/exe", program_invocation_name, "brief", (char *)NULL);
		_exit(1);
	}
	reap(child);
}

static void trace_brief(void)
{
	pid_t child = fork_or_die();
	int status;

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/proc/thread-self/exe", program_invocation_name, "brief", (char *)NULL);
		_exit(1);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, child, NULL, NULL);
}

/*
 * Executes the program, which continues this sequence of operations. Sometimes uses execveat()
 * without a path.
 */
static __attribute__((noreturn)) void exec_on(const char *program)
{
	char steps[24], chance[24], pages[24];
	int fd = by_chance(2) ? open(program, O_PATH) : -1;
	char *argv[] = {
		program_invocation_name,     "on", steps, chance, pages, (char *)life.helper,
		life.quiet ? "quiet" : NULL, NULL};

	snprintf(steps, sizeof(steps), "%ld", life.steps);
	snprintf(chance, sizeof(chance), "%lu", life.chance >> 1);
	snprintf(pages, sizeof(pages), "%ld", life.pages);
	if (fd >= 0)
		syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	else
		execve(program, argv, environ);
	die("exec of itself");
}

static void *exec_in_thread(void *program)
{
	exec_on(program);
}

/* Causes page faults until another thread calls exec. The number of faults is unknown. */
static void *write_on(void *unused)
{
	char *area = map_pages(MOST_PAGES);

	for (;;) {
		write_pages(area, MOST_PAGES);
		madvise(area, MOST_PAGES * PAGE_BYTES, MADV_DONTNEED);
	}
	return unused;
}

static __attribute__((noreturn)) void exec_by_thread(const char *program)
{
	long rivals = by_chance(4);

	for (long i = 0; i < rivals; i++)
		start_thread(write_on, NULL);
	start_thread(exec_in_thread, (void *)program);
	if (by_chance(2))
		write_on(NULL);
	for (;;)
		pause();
}

static void live_on(void);

static void *live_without_leader(void *unused)
{
	usleep(by_chance(2) * 2000);
	live_on();
	return unused;
}

static void lose_leader(void)
{
	if (leader_left)
		return;
	leader_left = true;
	start_thread(live_without_leader, NULL);
	pthread_exit(NULL);
}

static void exec_as_nobody(void)
{
	/* Unlike setresuid() of libc, the system call changes the user of this thread only. */
	if (syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY))
		die("setresuid");
	exec_on(life.helper);
}

static void fork_brief(void)
{
	pid_t child = fork_or_die();

	if (!child) {
		life.quiet = true;
		life.steps = 0;
		exec_by_thread("/proc/thread-self/exe");
	}
	reap(child);
}

/* The main function of process 1 of a pid namespace. Another thread of this process calls exec. */
static void live_in_namespace(void)
{
	pid_t child = fork_or_die();

	if (!child) {
		if (unshare(CLONE_NEWPID))
			_exit(0);
		fork_brief();
		_exit(0);
	}
	reap(child);
}

static void step(void)
{
	switch (by_chance(16)) {
	case 0:
	case 1:
		return write_some(MOST_PAGES);
	case 2:
		return map_some();
	case 3:
		return open_some();
	case 4:
		return write_beside();
	case 5:
		return share(CLONE_VM);
	case 6:
		return share(CLONE_FILES);
	case 7:
		return vfork_brief();
	case 8:
		return trace_brief();
	case 9:
		return fork_brief();
	case 10:
		return live_in_namespace();
	case 11:
		exec_on("/proc/thread-self/exe");
	case 12:
	case 13:
		exec_by_thread("/proc/thread-self/exe");
	case 14:
		return lose_leader();
	default:
		return exec_as_nobody();
	}
}

static __attribute__((noreturn)) void tell_and_end(void)
{
	struct faults own = faults_now(RUSAGE_SELF);
	char line[128];
	int len = snprintf(line, sizeof(line),
			   "{\"pid\":%d,\"pages\":%ld,\"minor\":%ld,\"major\":%ld}\n", getpid(),
			   life.pages, own.minor, own.major);

	if (!life.quiet && write(STDOUT_FILENO, line, len) != len)
		die("write");
	_exit(0);
}

static __attribute__((noreturn)) void live_on(void)
{
	while (life.steps-- > 0) {
		usleep(by_chance(40000));
		step();
	}
	tell_and_end();
}

static void reuse_pids(pid_t first)
{
	char text[16];
	int fd = open(LAST_PID, O_WRONLY | O_CLOEXEC);

	snprintf(text, sizeof(text), "%d", first - 1);
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		/* setting the next pid may fail, which is not an error of the workload */
		errno = 0;
	if (fd >= 0)
		close(fd);
}

static void run_all(long count, unsigned long seed, const char *helper)
{
	long alive = 0;
	pid_t first = 0;

	wait_for_go();
	for (long i = 0; i < count; i++) {
		pid_t child;

		if (alive == MOST_ALIVE) {
			wait(NULL);
			alive--;
		}
		if (first && i % PID_REUSED_EACH == 0)
			reuse_pids(first);
		child = fork_or_die();
		if (!child) {
			life.chance = (seed + i + 1) * 0x9e3779b97f4a7c15UL;
			life.steps = 1 + by_chance(MOST_STEPS);
			life.helper = helper;
			live_on();
		}
		if (i % PID_REUSED_EACH == 0)
			first = child;
		alive++;
	}
	while (alive--)
		wait(NULL);
	truth_open();
	truth_number("histories", count);
	truth_close();
}

static pthread_barrier_t all_there;

static void *touch_and_wait(void *area)
{
	write_pages(area, 1);
	pthread_barrier_wait(&all_there);
	pause();
	return NULL;
}

/* Starts many threads. One of them calls exec. */
static void run_crowd(long count)
{
	char *area = map_pages(count);

	wait_for_go();
	pthread_barrier_init(&all_there, NULL, count + 1);
	for (long i = 0; i < count; i++)
		start_thread(touch_and_wait, area + i * PAGE_BYTES);
	life.pages += count;
	pthread_barrier_wait(&all_there);
	usleep(300000);
	start_thread(exec_in_thread, "/proc/thread-self/exe");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const char usage[] = "all COUNT SEED HELPER | crowd COUNT | on STEPS CHANCE PAGES "
				    "HELPER [quiet] | brief";
	const char *words[6];
	int found = parse_args(argc, argv, usage, NULL, words, 1, 6);

	life.chance = 1;
	life.helper = "";
	if (!strcmp(words[0], "brief") && found == 1) {
		life.quiet = true;
		write_some(MOST_PAGES);
		tell_and_end();
	}
	if (!strcmp(words[0], "all") && found == 4) {
		run_all(parse_number(words[1]), parse_number(words[2]), words[3]);
		return 0;
	}
	if (!strcmp(words[0], "crowd") && found == 2)
		run_crowd(parse_number(words[1]));
	if (strcmp(words[0], "on") || found < 5)
		wrong_usage(usage);
	life.steps = parse_number(words[1]);
	life.chance = parse_number(words[2]) ?: 1;
	life.pages = parse_number(words[3]);
	life.helper = words[4];
	life.quiet = found == 6;
	live_on();
}
