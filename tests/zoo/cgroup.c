/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases of cgroup limits, version 1 or 2: pids and memory. */
#include "zoo.h"

#define GROUP_BYTES "8388608"
/* memory limit of the cgroup in bytes: less than the kernel memory for a few thousand mappings */
#define FEW_BYTES   "524288"
#define PLENTY	    "268435456"

/* Test cases of pids.max */

/* name of the cgroup whose limit is set: either the parent or the child cgroup */
static const char *limited_group;

static void pids(const char *limited, const char *most)
{
	limited_group = limited;
	cgroup_make("pids");
	cgroup_enter("pids", "/below");
	cgroup_set("pids", limited, "pids.max", most);
}

static void pids_own(void)
{
	pids("/below", "1");
}

static void pids_of_parent(void)
{
	pids("", "1");
}

static void pids_of_thread(void)
{
	pthread_join(start_thread(empty_thread, NULL), NULL);
	pids_own();
}

static void more_pids(void)
{
	cgroup_set("pids", limited_group, "pids.max", "max");
}

static long make_thread(void)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, empty_thread, NULL);
	if (errno)
		return -1;
	pthread_join(thread, NULL);
	return 0;
}

/*
 * Test cases in which a call fails at the memory limit of a cgroup, because it needs more kernel
 * memory than the limit allows. The kernel kills no process, but the call fails with ENOMEM.
 */

#define SPIN_US 1000

/*
 * A child makes the calls, because at the memory limit, a page fault may wait forever. Parent and
 * child communicate through this shared page. Its memory is allocated before the limit is set.
 */
static volatile struct talk {
	int go;
	int done; /* number of calls that have returned */
	long ret;
	int error;
	long made; /* number of mappings that the child has made */
} *talk;
static pid_t worker;

static void end_worker(void)
{
	cgroup_set("memory", "", cgroup_v2() ? "memory.max" : "memory.limit_in_bytes", PLENTY);
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
}

static long map_until_refused(void)
{
	long most = most_maps() - 100;

	while (talk->made < most) {
		if (map_unmergeable(talk->made) == MAP_FAILED)
			return -1;
		talk->made++;
	}
	return 0;
}

static void work(long (*make)(void))
{
	for (int times = 1;; times++) {
		while (talk->go < times)
			usleep(SPIN_US);
		errno = 0;
		talk->ret = make();
		talk->error = errno;
		talk->done = times;
	}
}

static void start_worker(long (*make)(void))
{
	bool v2 = cgroup_v2();
	pid_t parent = getpid();

	talk = map_file(-1, PAGE_BYTES, RW, SHARED_ANON);
	talk->go = 0;
	cgroup_make("memory");
	cgroup_set("memory", "", v2 ? "memory.max" : "memory.limit_in_bytes", FEW_BYTES);
	worker = fork_or_die();
	if (!worker) {
		end_with(parent);
		/* Locks all memory that the child will use, including its stack. */
		if (mlockall(MCL_CURRENT))
			_exit(1);
		if (v2 && !write_text("/proc/self/oom_score_adj", "-1000"))
			_exit(1);
		if (!v2)
			cgroup_set("memory", "", "memory.oom_control", "1");
		cgroup_enter("memory", "/below");
		work(make);
	}
	at_end(end_worker);
}

static long worker_makes(void)
{
	int times = talk->done + 1;

	talk->go = times;
	while (talk->done < times) {
		if (waitpid(worker, NULL, WNOHANG))
			die("the child in the group ended");
		usleep(SPIN_US);
	}
	subject.pid = subject.tid = worker;
	errno = talk->error;
	return talk->ret;
}

static void more_memory(void)
{
	cgroup_set("memory", "", cgroup_v2() ? "memory.max" : "memory.limit_in_bytes", PLENTY);
	talk->made = most_maps() - 200; /* the child makes only 200 more mappings */
}

static void maps_in_group(void)
{
	start_worker(map_until_refused);
}

/* The kernel stack of a forked child is charged to the cgroup. */
static long fill_and_fork(void)
{
	if (!talk->done && map_until_refused() != -1)
		return 0;
	return make_fork();
}

static void forks_in_group(void)
{
	start_worker(fill_and_fork);
}

/* Test case of a process that is OOM-killed at the limit of its cgroup */

static long touch_in_child(void)
{
	size_t bytes = 32 * MIB;
	pid_t child = fork_or_die();
	int status;

	if (!child) {
		char *base;

		cgroup_enter("memory", "/below");
		base = map_anon(bytes, RW, 0);
		for (size_t i = 0; i < bytes; i += PAGE_BYTES)
			base[i] = 1;
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
		subject.pid = subject.tid = child;
		return -1;
	}
	return 0;
}

static void killed_in_group(void)
{
	cgroup_make("memory");
	cgroup_set("memory", "", cgroup_v2() ? "memory.max" : "memory.limit_in_bytes",
		   GROUP_BYTES);
}

static void room_in_group(void)
{
	cgroup_set("memory", "", cgroup_v2() ? "memory.max" : "memory.limit_in_bytes", PLENTY);
}

const struct zoo_case cgroup_cases[] = {
	{ "pids-own", { "clone", EAGAIN, "cgroup_pids" }, pids_own, make_fork, more_pids },
	{ "pids-of-parent", { "clone", EAGAIN, "cgroup_pids" }, pids_of_parent, make_fork,
	  more_pids },
	{ "pids-thread", { "clone3", EAGAIN, "cgroup_pids" }, pids_of_thread, make_thread,
	  more_pids },
	{ "memory-maps", { "mmap", ENOMEM, "cgroup_memory" }, maps_in_group, worker_makes,
	  more_memory },
	{ "memory-fork", { "clone", ENOMEM, "cgroup_memory" }, forks_in_group, worker_makes,
	  more_memory, .also = { "mmap", ENOMEM, "cgroup_memory" } },
	{ "memory-killed", .prepare = killed_in_group, .make = touch_in_child,
	  .lift = room_in_group, .oom = "memcg|cgroup|memory_cgroup|CONSTRAINT_MEMCG" },
	{ 0 },
};
