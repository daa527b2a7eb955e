/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Test cases in which the creation of a process or a thread fails. */
#include "zoo.h"

#include <linux/sched.h>

static long ended(long child)
{
	if (!child)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

static long make_old_fork(void)
{
	return ended(syscall(SYS_fork));
}

static long make_vfork(void)
{
	return ended(vfork());
}

static long make_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return ended(syscall(SYS_clone3, &args, sizeof(args)));
}

/* Creates a thread. Sets errno to the errno of the system call that failed in pthread_create. */
static long make_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 2 * MIB);
	errno = pthread_create(&thread, &attr, empty_thread, NULL);
	if (errno)
		return -1;
	pthread_join(thread, NULL);
	return 0;
}

/* pthread_create of glibc returns EAGAIN if the system call for the stack fails with ENOMEM. */
static long make_thread_of_stack(void)
{
	long ret = make_thread();

	if (ret && errno == EAGAIN)
		errno = ENOMEM;
	return ret;
}

static void warm_up(void)
{
	pthread_join(start_thread(empty_thread, NULL), NULL);
}

static void one_process(void)
{
	become_another_user();
	soft_limit(RLIMIT_NPROC, 1);
}

static void few_processes(void)
{
	long some = vary(3, 20);

	become_another_user();
	for (long i = 1; i < some; i++)
		start_sleeper(NULL);
	soft_limit(RLIMIT_NPROC, some);
}

static void restore_processes(void)
{
	restore_limit(RLIMIT_NPROC);
}

static void thread_nproc(void)
{
	warm_up();
	one_process();
}

static void thread_as(void)
{
	warm_up();
	room_as(MIB);
}

static void thread_memlock(void)
{
	warm_up();
	if (mlockall(MCL_FUTURE))
		die("mlockall");
	room_memlock(MIB);
}

static void thread_data(void)
{
	warm_up();
	room_data(MIB);
}

/*
 * The call that fails when a thread's stack exceeds a limit on writable memory. From glibc 2.42 on,
 * stacks are mapped writable at once.
 */
#if __GLIBC_PREREQ(2, 42)
#define STACK_CALL "mmap"
#else
#define STACK_CALL "mprotect"
#endif

#define NPROC(call) { call, EAGAIN, "rlimit_nproc" }

const struct zoo_case task_cases[] = {
	{ "nproc-fork", NPROC("fork"), one_process, make_old_fork, restore_processes },
	{ "nproc-vfork", NPROC("vfork"), one_process, make_vfork, restore_processes },
	{ "nproc-clone", NPROC("clone"), one_process, make_fork, restore_processes },
	{ "nproc-clone3", NPROC("clone3"), one_process, make_clone3, restore_processes },
	{ "nproc-others", NPROC("clone"), few_processes, make_fork, restore_processes },
	{ "nproc-thread", NPROC("clone3"), thread_nproc, make_thread, restore_processes },
	{ "thread-as", { "mmap", ENOMEM, "rlimit_as" }, thread_as, make_thread_of_stack,
	  restore_as },
	{ "thread-memlock", { "mmap", EAGAIN, "rlimit_memlock" }, thread_memlock, make_thread,
	  raise_ipc_lock },
	{ "thread-data", { STACK_CALL, ENOMEM, "rlimit_data" }, thread_data, make_thread_of_stack,
	  restore_data },
	{ 0 },
};
