// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which processes -p and --cgroup watch, and the messages about those that cannot be watched.
 * The table of watched processes is that of this test, by pid.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "error_output.h"
#include "made_maps.h"
#include "open_files.h"
#include "probe/host_facts.h"
#include "probe/live_load.h"
#include "session/targets.h"
#include "waiting_child.h"

#define MOST	  4096
#define LIST_HINT "  list processes: ps -e, or faultscope 1 1\n"

static struct fs_shared shared;
static struct live live = {.src.live = true, .obj = {.build = OBJECT_HASH, .shared = &shared}};
static struct options o;
static struct session s;
static struct made_map *procs;
static pid_t child, *grandchild; /* the latter is written by the child */

static void begin(bool children)
{
	made_clear(procs);
	live.nested = false;
	o = (struct options){};
	s = (struct session){.o = &o, .in.src = &live.src, .plan.children = children};
}

static void add_pid(pid_t pid)
{
	o.filter.pid[o.filter.pids++] = pid;
}

/* Returns the flags of a watched process; -1: it is not watched. */
static int flags_of(pid_t pid)
{
	struct fs_whole_state whole;

	return bpf_map_lookup_elem(procs->fd, &pid, &whole) ? -1 : (int)whole.st.flags;
}

static bool make_grandchild(long unused)
{
	pid_t pid;

	/* a name that looks like the end of the name in /proc/PID/stat */
	prctl(PR_SET_NAME, "a) S 1 (b");
	pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	*grandchild = pid;
	return pid > 0;
}

static void test_processes(void)
{
	begin(false);
	add_pid(child);
	errors_begin();
	is_u64(targets_watch(&s), 0, "a process");
	errors_are("", "no error");
	is_u64(procs->n, 1, "it alone is watched");
	is_u64(flags_of(child), PROC_WATCHED, "without its children");
	begin(true);
	add_pid(child);
	is_u64(targets_watch(&s), 0, "a process and its children");
	is_u64(procs->n, 2, "two are watched");
	is_u64(flags_of(child), PROC_WATCHED | PROC_FOLLOW, "the process");
	is_u64(flags_of(*grandchild), PROC_WATCHED | PROC_FOLLOW, "the child that exists");
	begin(true);
	add_pid(getpid());
	is_u64(targets_watch(&s), 0, "this process and its descendants");
	ok(flags_of(child) >= 0 && flags_of(*grandchild) >= 0, "all generations");
	ok(flags_of(getppid()) < 0, "the parent is not watched");
}

struct waiting_thread {
	pid_t tid;
	pthread_barrier_t begun;
};

static void *tell_tid(void *arg)
{
	struct waiting_thread *w = arg;

	w->tid = syscall(SYS_gettid);
	pthread_barrier_wait(&w->begun);
	pause();
	return NULL;
}

/* -p accepts thread ids, as ps and gdb do. */
static void test_threads(void)
{
	struct waiting_thread *w = calloc(1, sizeof(*w));
	pthread_t thread;

	if (!w || pthread_barrier_init(&w->begun, NULL, 2) ||
	    pthread_create(&thread, NULL, tell_tid, w))
		abort();
	pthread_barrier_wait(&w->begun);
	begin(false);
	add_pid(w->tid);
	ok(w->tid != getpid(), "a thread id");
	is_u64(targets_watch(&s), 0, "a thread");
	is_u64(flags_of(getpid()), PROC_WATCHED, "its process is watched");
	is_u64(procs->n, 1, "once");
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	free(w);
}

static pid_t gone(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void test_errors(void)
{
	pid_t ended = gone();
	char want[256];

	begin(false);
	add_pid(ended);
	errors_begin();
	is_u64(targets_watch(&s), EXIT_NO_TARGET, "a process that has ended");
	snprintf(want, sizeof(want), "faultscope: no process %d\n" LIST_HINT, ended);
	errors_are(want, "is named");
	add_pid(child);
	errors_begin();
	is_u64(targets_watch(&s), 0, "another process is watched nevertheless");
	snprintf(want, sizeof(want), "faultscope: no process %d\n", ended);
	errors_are(want, "without the hint");
	is_u64(procs->n, 1, "one process is watched");
	begin(false);
	add_pid(child);
	live.nested = true;
	errors_begin();
	is_u64(targets_watch(&s), EXIT_KERNEL_LACKS, "a pid namespace without task storage");
	ok(strstr(errors_end(), "needs task storage"), "the reason is named");
	begin(false);
	add_pid(child);
	procs->most = 0;
	errors_begin();
	is_u64(targets_watch(&s), EXIT_FAILED, "no room");
	procs->most = MOST;
	snprintf(want, sizeof(want),
		 "faultscope: cannot watch process %d: Argument list too long\n", child);
	errors_are(want, "the error is named");
}

/* Copies the cgroup of this process, as the last hierarchy names it. */
static void own_cgroup(char *ret, size_t size)
{
	char text[4096], *line;

	io_read(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text));
	text[strcspn(text, "\n")] = 0;
	line = strchr(text, ':');
	line = line ? strchr(line + 1, ':') : NULL;
	snprintf(ret, size, "%s", line ? line + 1 : "");
}

static void test_cgroups(void)
{
	begin(true);
	own_cgroup(o.filter.cgroup, sizeof(o.filter.cgroup));
	errors_begin();
	is_u64(targets_watch(&s), 0, "the cgroup of this process");
	errors_are("", "no error");
	ok(flags_of(child) == (PROC_WATCHED | PROC_FOLLOW), "other processes in it");
	ok(flags_of(getpid()) < 0, "but not the process that watches");
	ok(targets_watch_cgroup(&s) >= 2,
	   "the number of processes: children of this test at least");
	begin(true);
	strcpy(o.filter.cgroup, "/no/such/cgroup");
	errors_begin();
	is_u64(targets_watch(&s), EXIT_NO_TARGET, "a cgroup without processes");
	errors_are("faultscope: --cgroup /no/such/cgroup: no process in this cgroup\n", "is named");
	is_u64(procs->n, 0, "nothing is watched");
}

/*
 * kthreadd has the pid 2, except in a pid namespace. Only privileged users may ask whether it has a
 * program.
 */
static void test_kernel_threads(void)
{
	char name[32];

	io_read(AT_FDCWD, "/proc/2/comm", name, sizeof(name));
	begin(true);
	strcpy(o.filter.cgroup, "/");
	targets_watch_cgroup(&s);
	ok(flags_of(child) >= 0, "the root cgroup has all processes");
	if (!geteuid() && !strcmp(name, "kthreadd\n"))
		ok(flags_of(2) < 0, "but no kernel thread is watched");
}

/* A cgroup that is looked for leaves no file open, whatever its descriptor is. */
static void test_cgroup_that_is_missing(void)
{
	size_t fds;

	close(STDIN_FILENO);
	fds = open_fds();
	begin(true);
	is_u64(targets_find_cgroup(&s), 0, "no cgroup is named");
	is_u64(open_fds(), fds, "no file is left");
	own_cgroup(o.filter.cgroup, sizeof(o.filter.cgroup));
	errors_begin();
	is_u64(targets_find_cgroup(&s), 0, "the cgroup of this process");
	errors_are("", "no error");
	is_u64(open_fds(), fds, "no file is left");
	strcpy(o.filter.cgroup, "/no/such/cgroup");
	if (host_is_in_pid_namespace())
		return;
	errors_begin();
	is_u64(targets_find_cgroup(&s), EXIT_NO_TARGET, "a cgroup that does not exist");
	ok(!strncmp(errors_end(),
		    "faultscope: --cgroup /no/such/cgroup: no such cgroup\n  / has: ", 62),
	   "is named, with the level above it");
	is_u64(open_fds(), fds, "no file is left");
}

static void test_native(void)
{
	begin(false);
	ok(targets_are_native(&o), "no process is known not to be native");
	add_pid(child);
	is_u64(targets_are_native(&o), sizeof(long) == 8, "a process of this program");
	ok(!targets_are_filtered(&o) || prctl(PR_GET_SECCOMP), "it has no seccomp filter");
	add_pid(gone());
	ok(!targets_are_native(&o), "a process that has ended is not known to be native");
}

int main(void)
{
	grandchild = mmap(NULL, sizeof(*grandchild), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	procs = made_map("procs", 0, sizeof(pid_t), sizeof(struct fs_whole_state), MOST);
	child = waiting_child(make_grandchild, 0);
	test_processes();
	test_threads();
	test_errors();
	test_cgroups();
	test_kernel_threads();
	test_cgroup_that_is_missing();
	test_native();
	return tap_done();
}
