/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs processes with unusual histories: vfork, exec by a thread, forks that fail, many forks at
 * once, reused pids.
 */
#include "common.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#define VFORK_MAPS 100
#define THREAD_PAGES 1000
#define AFTER_EXEC_PAGES 500
#define LEADERLESS_FDS 80
#define PAGES_OF_EACH_THREAD 10
#define MOST_ALIVE 64
#define FAILED_FORKS 3
#define NOBODY 65534
#define MOST_PIDS (1 << 22)

static void make_maps(long first, long count)
{
	for (long i = first; i < first + count; i++)
		if (map_unmergeable(i) == MAP_FAILED)
			die("mmap of map %ld", i);
}

static __attribute__((noreturn)) void idle(void)
{
	for (;;)
		pause();
}

static pid_t reap(pid_t pid)
{
	pid = waitpid(pid, NULL, 0);
	if (pid < 0)
		die("waitpid");
	return pid;
}

/*
 * Before its exec, the child of vfork() makes mappings in the address space that it shares with its
 * parent.
 */
static __attribute__((noinline)) pid_t vfork_and_exec(void)
{
	pid_t child = vfork();

	if (child < 0)
		die("vfork");
	if (!child) {
		make_maps(VFORK_MAPS, VFORK_MAPS);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	return child;
}

static void run_vfork(long unused)
{
	long before = map_count();
	pid_t child;

	(void)unused;
	wait_for_go();
	make_maps(0, VFORK_MAPS);
	child = vfork_and_exec();
	reap(child);

	truth_open();
	truth_number("child", child);
	truth_number("parent_maps", VFORK_MAPS);
	truth_number("child_maps", VFORK_MAPS);
	truth_number("map_count_before", before);
	truth_number("map_count", map_count());
	truth_close();
}

static void *touch_and_exec(void *area)
{
	char thread[16], sleep_ms[32];

	write_pages(area, THREAD_PAGES);
	snprintf(thread, sizeof(thread), "%d", gettid());
	snprintf(sleep_ms, sizeof(sleep_ms), "%ld", common.sleep_ms);
	execl("/proc/thread-self/exe", program_invocation_name, "after-exec", thread, "--sleep-ms",
	      sleep_ms, common.hold ? "--hold" : NULL, (char *)NULL);
	die("exec of itself");
}

static void run_thread_exec(long unused)
{
	char *area = map_pages(THREAD_PAGES);

	(void)unused;
	wait_for_go();
	start_thread(touch_and_exec, area);
	idle();
}

static void run_after_exec(long exec_thread)
{
	write_pages(map_pages(AFTER_EXEC_PAGES), AFTER_EXEC_PAGES);
	truth_open();
	truth_number("exec_tid", exec_thread);
	truth_number("pages_before_exec", THREAD_PAGES);
	truth_number("pages_after_exec", AFTER_EXEC_PAGES);
	truth_close();
}

/* Waits until the first thread of the process is a zombie. */
static void wait_for_zombie(void)
{
	char path[64], text[512], *state;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	do {
		usleep(100);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
		if (got <= 0)
			die("read %s", path);
		text[got] = 0;
		state = strrchr(text, ')');
	} while (!state || state[2] != 'Z');
}

static void *touch_without_leader(void *area)
{
	wait_for_zombie();
	write_pages(area, THREAD_PAGES);
	truth_open();
	truth_number("tid", gettid());
	truth_number("pages", THREAD_PAGES);
	truth_close();
	exit(0);
}

static void run_leader_exit(long unused)
{
	char *area = map_pages(THREAD_PAGES);

	(void)unused;
	wait_for_go();
	start_thread(touch_without_leader, area);
	pthread_exit(NULL);
}

static void *hold_without_leader(void *area)
{
	wait_for_zombie();
	write_pages(area, THREAD_PAGES);
	for (int i = 0; i < LEADERLESS_FDS; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			die("open /dev/null");
	common.hold = true;
	truth_open();
	truth_number("tid", gettid());
	truth_close();
	exit(0);
}

/* The first thread exits. Another thread stays alive, so that faultscope can watch it. */
static void run_leaderless(long unused)
{
	(void)unused;
	start_thread(hold_without_leader, map_pages(THREAD_PAGES));
	pthread_exit(NULL);
}

static void *exec_without_leader(void *area)
{
	wait_for_zombie();
	/* During this sleep, faultscope scans the process without its first thread. */
	usleep(300000);
	return touch_and_exec(area);
}

static void *exec_when_told(void *area)
{
	wait_for_zombie();
	wait_for_go();
	return touch_and_exec(area);
}

/* The first thread exits. When told to, another thread touches memory and takes its place. */
static void run_leaderless_exec(long unused)
{
	(void)unused;
	start_thread(exec_when_told, map_pages(THREAD_PAGES));
	pthread_exit(NULL);
}

static void *exec_next(void *heirs)
{
	char left[32];

	wait_for_zombie();
	snprintf(left, sizeof(left), "%ld", (long)heirs - 1);
	execl("/proc/thread-self/exe", program_invocation_name, "heirs", left, (char *)NULL);
	die("exec of itself");
}

/* The first thread exits, and another thread takes its place by exec; repeated `count` times. */
static void run_heirs(long count)
{
	wait_for_go();
	close(open("/dev/null", O_RDONLY | O_CLOEXEC));
	if (count) {
		start_thread(exec_next, (void *)count);
		pthread_exit(NULL);
	}
	truth_open();
	truth_close();
}

static void run_leader_exit_exec(long unused)
{
	char *area = map_pages(THREAD_PAGES);

	(void)unused;
	wait_for_go();
	write_pages(map_pages(AFTER_EXEC_PAGES), AFTER_EXEC_PAGES);
	start_thread(exec_without_leader, area);
	pthread_exit(NULL);
}

static pid_t fork_short(void)
{
	pid_t child = fork_or_die();

	if (!child)
		_exit(0);
	return child;
}

/*
 * Forks, which fails because of RLIMIT_NPROC. Waits until RCU callbacks of the kernel have run, in
 * which some kernels then free BPF task storage of the caller.
 */
static void fail_to_fork(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	if (child > 0 || errno != EAGAIN)
		die("fork did not fail with EAGAIN");
	for (int i = 0; i < 2; i++)
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
			die("membarrier");
}

/* Touches pages between forks that fail, and after them. */
static void run_failed_forks(long unused)
{
	const struct rlimit none = { 0, 0 };
	char *area = map_pages(THREAD_PAGES * (FAILED_FORKS + 1));

	(void)unused;
	wait_for_go();
	if (setresuid(NOBODY, NOBODY, NOBODY) || setrlimit(RLIMIT_NPROC, &none))
		die("become another user");
	for (int i = 0; i <= FAILED_FORKS; i++) {
		write_pages(area + i * THREAD_PAGES * PAGE_BYTES, THREAD_PAGES);
		if (i < FAILED_FORKS)
			fail_to_fork();
	}
	truth_open();
	truth_number("failed", FAILED_FORKS);
	truth_number("pages", THREAD_PAGES * (FAILED_FORKS + 1));
	truth_close();
}

static void run_fork_storm(long count)
{
	long alive = 0, most = 0;

	wait_for_go();
	for (long i = 0; i < count; i++) {
		if (alive == MOST_ALIVE) {
			reap(-1);
			alive--;
		}
		fork_short();
		alive++;
		most = alive > most ? alive : most;
	}
	for (; alive; alive--)
		reap(-1);

	truth_open();
	truth_number("forks", count);
	truth_number("most_unreaped", most);
	truth_close();
}

static pthread_barrier_t all_touched;

static void *touch_and_stay(void *area)
{
	write_pages(area, PAGES_OF_EACH_THREAD);
	pthread_barrier_wait(&all_touched);
	idle();
}

static void run_threads(long count)
{
	char *area = map_pages(count * PAGES_OF_EACH_THREAD);

	wait_for_go();
	pthread_barrier_init(&all_touched, NULL, count + 1);
	for (long i = 0; i < count; i++)
		start_thread(touch_and_stay, area + i * PAGES_OF_EACH_THREAD * PAGE_BYTES);
	pthread_barrier_wait(&all_touched);

	common.hold = true;
	truth_open();
	truth_number("threads", count);
	truth_number("pages", count * PAGES_OF_EACH_THREAD);
	truth_close();
}

static pid_t fork_idle(void)
{
	pid_t parent = getpid(), child = fork_or_die();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static void run_procs(long count)
{
	pid_t *children = calloc(count + 1, sizeof(*children));

	if (!children)
		die("calloc");
	catch_stop();
	wait_for_go();
	for (long i = 0; i < count; i++)
		children[i] = fork_idle();

	common.hold = true;
	truth_open();
	truth_number("procs", count);
	truth_number("first_child", children[0]);
	truth_number("last_child", count ? children[count - 1] : 0);
	truth_close();
	for (long i = 0; i < count; i++)
		kill(children[i], SIGKILL);
	for (long i = 0; i < count; i++)
		reap(children[i]);
}

static void run_pid_reuse(long most)
{
	static unsigned char seen[MOST_PIDS];
	long forks = 0, reused = 0;
	pid_t child = 0;

	catch_stop();
	wait_for_go();
	while ((!most || forks < most) && !told_by_input(0)) {
		child = reap(fork_short());
		forks++;
		reused += seen[child];
		seen[child] = 1;
	}

	truth_open();
	truth_number("forks", forks);
	truth_number("reused", reused);
	truth_number("last_child", child);
	truth_close();
}

/*
 * Children that have the same pid one after another, in much less than a clock tick each. Other
 * processes may take the pid for a while.
 */
static void run_same_pid(long count)
{
	int last = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	char text[20];
	long lives = 1;
	pid_t pid;

	if (last < 0)
		die("open ns_last_pid");
	catch_stop();
	wait_for_go();
	pid = reap(fork_short());
	for (long i = 0; lives < count && i < 50 * count; i++) {
		int len = snprintf(text, sizeof(text), "%d", pid - 1);

		if (pwrite(last, text, len, 0) != len)
			die("write ns_last_pid");
		lives += reap(fork_short()) == pid;
	}

	truth_open();
	truth_number("same_pid", pid);
	truth_number("lives", lives);
	truth_close();
}

static const struct {
	const char *name;
	void (*run)(long number);
	bool need_number;
} modes[] = {
	{ "vfork", run_vfork, false },
	{ "thread-exec", run_thread_exec, false },
	{ "after-exec", run_after_exec, true },
	{ "leader-exit", run_leader_exit, false },
	{ "leader-exit-exec", run_leader_exit_exec, false },
	{ "heirs", run_heirs, true },
	{ "leaderless", run_leaderless, false },
	{ "leaderless-exec", run_leaderless_exec, false },
	{ "failed-forks", run_failed_forks, false },
	{ "fork-storm", run_fork_storm, true },
	{ "threads", run_threads, true },
	{ "procs", run_procs, true },
	{ "pid-reuse", run_pid_reuse, false },
	{ "same-pid", run_same_pid, true },
};

int main(int argc, char **argv)
{
	static const char usage[] = "vfork|thread-exec|leader-exit|leader-exit-exec|heirs K|"
				    "leaderless|leaderless-exec|failed-forks|fork-storm K|"
				    "threads K|procs K|pid-reuse [MOST_FORKS]|same-pid K";
	const char *words[2] = { NULL };
	int found = parse_args(argc, argv, usage, NULL, words, 1, 2);

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, words[0]))
			continue;
		if (modes[i].need_number && found < 2)
			break;
		modes[i].run(found < 2 ? 0 : parse_number(words[1]));
		return 0;
	}
	wrong_usage(usage);
}
