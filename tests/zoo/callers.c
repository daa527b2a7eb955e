/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases in which the failing call is made by a child, a thread, or a process in another
 * namespace. The caller may share memory with its parent, or have other rights and limits than its
 * parent.
 */
#include "zoo.h"

#include <linux/io_uring.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>

/*
 * A process in a user namespace cannot exceed limits of the host, even if it has all capabilities
 * in this namespace.
 */

static void lock_with_rights_of_namespace(void)
{
	size_t bytes = small_bytes();

	enter_user_namespace();
	ASK(mlock, P(map_anon(bytes, RW, 0)), bytes);
	soft_limit(RLIMIT_MEMLOCK, status_bytes("\nVmLck:") + bytes - PAGE_BYTES);
}

static void map_locked_with_rights_of_namespace(void)
{
	size_t bytes = small_bytes();

	enter_user_namespace();
	ASK(mmap, 0, (long)bytes, RW, PRIVATE_ANON | MAP_LOCKED, -1, 0);
	soft_limit(RLIMIT_MEMLOCK, status_bytes("\nVmLck:") + bytes - PAGE_BYTES);
}

static void restore_memlock(void)
{
	restore_limit(RLIMIT_MEMLOCK);
	ask.arg[1] = PAGE_BYTES;
}

static void low_with_rights_of_namespace(void)
{
	enter_user_namespace();
	ASK(mmap, 0, PAGE_BYTES, RW, PRIVATE_ANON | MAP_FIXED, -1, 0);
}

static void higher(void)
{
	ask.arg[0] = read_number("/proc/sys/vm/mmap_min_addr") + 16 * MIB;
	ask.arg[3] = PRIVATE_ANON;
}

static void fork_with_rights_of_namespace(void)
{
	become_another_user();
	enter_user_namespace();
	soft_limit(RLIMIT_NPROC, 1);
}

static void restore_processes(void)
{
	restore_limit(RLIMIT_NPROC);
}

/*
 * When a user namespace is created, the creator's RLIMIT_NPROC becomes the maximum number of
 * processes in this namespace. A process in the namespace cannot raise this maximum.
 */
static void fork_past_limit_of_namespace(void)
{
	become_another_user();
	soft_limit(RLIMIT_NPROC, 1);
	enter_user_namespace();
	restore_limit(RLIMIT_NPROC);
}

/*
 * After the first process of a pid namespace has ended, fork in this namespace fails with ENOMEM,
 * although there is enough memory.
 */
static void first_of_namespace_ends(void)
{
	if (unshare(CLONE_NEWPID))
		skip("no pid namespaces: %s", strerror(errno));
	waitpid(fork_or_die() ?: (_exit(0), 0), NULL, 0);
}

/*
 * If a child process makes the failing call, faultscope must report the child's pid. There are two
 * cases: a child that shares all memory with its parent, and a child in its own namespaces.
 */

static int child_error;

static long told_by_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	errno = WEXITSTATUS(status);
	if (!errno)
		return 0;
	subject.pid = subject.tid = child;
	return -1;
}

static void past_as(void)
{
	ASK(mmap, 0, 64 * MIB, RW, PRIVATE_ANON, -1, 0);
	room_as(16 * MIB);
}

static long in_vfork_child(void)
{
	pid_t child = vfork();

	if (child < 0)
		die("vfork");
	if (!child) {
		child_error = make_asked() == -1 ? errno : 0;
		_exit(child_error);
	}
	return told_by_child(child);
}

static long in_child_namespaces(void)
{
	pid_t child = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);

	if (child < 0)
		skip("no namespaces: %s", strerror(errno));
	if (!child)
		_exit(make_asked() == -1 ? errno : 0);
	return told_by_child(child);
}

static void open_full(void)
{
	ASK(openat, AT_FDCWD, P("/dev/null"), O_RDONLY | O_CLOEXEC);
	leave_free(0);
}

static void *open_in_thread(void *arg)
{
	*(long *)arg = make_asked();
	child_error = errno;
	if (*(long *)arg == -1)
		subject.tid = syscall(SYS_gettid);
	return NULL;
}

static long in_thread(void)
{
	long ret = 0;

	pthread_join(start_thread(open_in_thread, &ret), NULL);
	errno = child_error;
	return ret;
}

/*
 * Makes a call in a thread whose own file descriptor table is full. The other threads share another
 * table.
 */
static void *unshare_and_open(void *arg)
{
	if (unshare(CLONE_FILES))
		die("unshare CLONE_FILES");
	while (fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) >= 0 && (long)arg > 0)
		;
	subject.tid = syscall(SYS_gettid);
	child_error = errno;
	return NULL;
}

static long in_thread_of_own_files(void)
{
	static bool made;

	if (made)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	made = true;
	child_error = 0;
	pthread_join(start_thread(unshare_and_open, (void *)1), NULL);
	errno = child_error;
	return errno ? -1 : 0;
}

static void few_numbers(void)
{
	leave_free(8);
}

/*
 * RLIMIT_NOFILE also limits the number of files that are registered with io_uring, even if all file
 * descriptor numbers are free.
 */
static void register_many_files(void)
{
	static int files[64];
	struct io_uring_params params = { 0 };
	int ring = syscall(SYS_io_uring_setup, 2, &params);

	if (ring < 0)
		skip("io_uring_setup: %s", strerror(errno));
	for (int i = 0; i < 64; i++)
		files[i] = -1;
	ASK(io_uring_register, ring, IORING_REGISTER_FILES, P(files), 64);
	soft_limit(RLIMIT_NOFILE, 32);
}

/* The system calls fspick and open_tree also return a file descriptor. */
static void pick_full(void)
{
	ASK(fspick, AT_FDCWD, P("/"), 0);
	leave_free(0);
}

/* Without CAP_SYS_RESOURCE, a pipe cannot be made larger than fs.pipe-max-size. */
static void pipe_past_largest(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe2");
	become_another_user();
	ASK(fcntl, ends[0], F_SETPIPE_SZ, 2 * read_number("/proc/sys/fs/pipe-max-size"));
}

static void pipe_of_largest(void)
{
	ask.arg[2] = PAGE_BYTES;
}

static void pipe_with_rights_of_namespace(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die("pipe2");
	enter_user_namespace();
	ASK(fcntl, ends[0], F_SETPIPE_SZ, 2 * read_number("/proc/sys/fs/pipe-max-size"));
}

/*
 * execve() copies its arguments to a new stack, whose size RLIMIT_AS limits as well. execve() then
 * fails with E2BIG, as it does for too many arguments.
 */
static char *arguments[6];
static bool lifted;

static void arguments_past_as(void)
{
	arguments[0] = "/proc/self/exe";
	for (int i = 1; i < 5; i++) {
		arguments[i] = malloc(100 * KIB);
		memset(arguments[i], 'x', 100 * KIB - 1);
	}
	soft_limit(RLIMIT_AS, 256 * KIB);
}

static long run_with_arguments(void)
{
	char *const environment[] = { NULL };
	pid_t child;
	int status;

	if (!lifted) {
		execve(arguments[0], arguments, environment);
		return -1;
	}
	child = fork_or_die();
	if (!child) {
		close(STDERR_FILENO);
		execve(arguments[0], arguments, environment);
		_exit(111);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status) == 111 ? -1 : 0;
}

static void run_in_space(void)
{
	restore_as();
	lifted = true;
}

/* Control tests: everyday failures with file descriptors */

static long message_cut_of_no_descriptors(void)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char text[8];
	struct iovec place = { text, sizeof(text) };
	struct msghdr message = {
		.msg_iov = &place,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(struct cmsghdr) + 4,
	};
	int ends[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) ||
	    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    write(ends[0], "x", 1) != 1)
		die("socketpair");
	leave_free(0);
	if (recvmsg(ends[1], &message, 0) != 1 || !(message.msg_flags & MSG_CTRUNC))
		die("recvmsg");
	return 0;
}

static void nothing(int signal)
{
	(void)signal;
}

/* Control test: system calls that a signal interrupts, and that then fail or are restarted. */
static long interrupted_calls(void)
{
	struct sigaction action = { .sa_handler = nothing };
	struct itimerval often = { { 0, 3000 }, { 0, 3000 } }, never = { 0 };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), ends[2];
	char byte;

	if (bind(listener, &(struct sockaddr){ .sa_family = AF_UNIX }, sizeof(sa_family_t)) ||
	    listen(listener, 1) || pipe(ends))
		die("listen");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (accept(listener, NULL, NULL) != -1 || errno != EINTR)
		die("accept");
	if (read(ends[0], &byte, 1) != -1 || errno != EINTR)
		die("read");
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 50; i++)
		waitpid(fork_or_die() ?: (_exit(0), 0), NULL, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}

#define OF(prepare, make, lift) prepare, make, lift

const struct zoo_case caller_cases[] = {
	{ "ns-mlock", { "mlock", ENOMEM, "rlimit_memlock" },
	  OF(lock_with_rights_of_namespace, NULL, restore_memlock) },
	{ "ns-mmap-memlock", { "mmap", EAGAIN, "rlimit_memlock" },
	  OF(map_locked_with_rights_of_namespace, NULL, restore_memlock) },
	{ "ns-min-address", { "mmap", EPERM, "min_address" },
	  OF(low_with_rights_of_namespace, NULL, higher) },
	{ "ns-nproc", { "clone", EAGAIN, "rlimit_nproc" },
	  OF(fork_with_rights_of_namespace, make_fork, restore_processes) },
	{ "ns-nproc-of-namespace", { "clone", EAGAIN, "rlimit_nproc" }, NULL, make_fork, NULL,
	  .impose = fork_past_limit_of_namespace },
	{ "ns-first-process-gone", { "clone", ENOMEM, "unknown", .undecidable = true }, NULL,
	  make_fork, NULL, .impose = first_of_namespace_ends },
	{ "ns-pipe-size", { "fcntl", EPERM, "pipe_pages" },
	  OF(pipe_with_rights_of_namespace, NULL, pipe_of_largest) },
	{ "pipe-size-largest", { "fcntl", EPERM, "pipe_pages" },
	  OF(pipe_past_largest, NULL, pipe_of_largest) },
	{ "vfork-child-as", { "mmap", ENOMEM, "rlimit_as" },
	  OF(past_as, in_vfork_child, restore_as) },
	{ "ns-child-as", { "mmap", ENOMEM, "rlimit_as" },
	  OF(past_as, in_child_namespaces, restore_as) },
	{ "vfork-child-open", { "openat", EMFILE, "rlimit_nofile" },
	  OF(open_full, in_vfork_child, restore_nofile) },
	{ "thread-open", { "openat", EMFILE, "rlimit_nofile" },
	  OF(open_full, in_thread, restore_nofile) },
	{ "thread-own-files", { "fcntl", EMFILE, "rlimit_nofile" },
	  OF(few_numbers, in_thread_of_own_files, NULL) },
	{ "nofile-io-uring-files", { "io_uring_register", EMFILE, "rlimit_nofile" },
	  OF(register_many_files, NULL, restore_nofile) },
	{ "nofile-fspick", { "fspick", EMFILE, "rlimit_nofile" },
	  OF(pick_full, NULL, restore_nofile) },
	{ "exec-arguments-as", { "execve", E2BIG, "rlimit_as" },
	  OF(arguments_past_as, run_with_arguments, run_in_space) },
	{ "control-cut", { 0 }, NULL, message_cut_of_no_descriptors, .control = true },
	{ "control-interrupted", { 0 }, NULL, interrupted_calls, .control = true },
	{ 0 },
};
