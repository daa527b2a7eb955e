/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of calls that create fds. RLIMIT_NOFILE leaves fewer free fd numbers than the call
 * needs.
 */
#include "zoo.h"

#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>

static int pair[2];
static const char null_path[] = "/dev/null";

/*
 * FULL and ONE_FREE set the call to make, and lower RLIMIT_NOFILE. FULL leaves no free number.
 * ONE_FREE leaves one number, for a call that needs two.
 */
#define FULL(call, ...)                                                                            \
	do {                                                                                       \
		ASK(call, __VA_ARGS__);                                                            \
		leave_free(0);                                                                     \
	} while (0)
#define ONE_FREE(call, ...)                                                                        \
	do {                                                                                       \
		ASK(call, __VA_ARGS__);                                                            \
		leave_free(1);                                                                     \
	} while (0)

static void of_open(void)
{
	FULL(open, P(null_path), O_RDONLY);
}

static void of_openat(void)
{
	FULL(openat, AT_FDCWD, P(null_path), O_RDWR | O_CLOEXEC);
}

static void of_directory(void)
{
	FULL(openat, AT_FDCWD, P("/"), O_RDONLY | O_DIRECTORY);
}

static void of_temporary(void)
{
	FULL(openat, AT_FDCWD, P("/tmp"), O_RDWR | O_TMPFILE, 0600);
}

static void of_openat2(void)
{
	static struct open_how how = { .flags = O_RDONLY };

	FULL(openat2, AT_FDCWD, P(null_path), P(&how), sizeof(how));
}

static void of_creat(void)
{
	FULL(creat, P(null_path), 0600);
}

static void of_handle(void)
{
	static struct {
		struct file_handle head;
		char bytes[MAX_HANDLE_SZ];
	} handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount_id, fd = open("/tmp", O_RDONLY | O_CLOEXEC);

	if (name_to_handle_at(AT_FDCWD, "/tmp", &handle.head, &mount_id, 0))
		skip("name_to_handle_at: %s", strerror(errno));
	ASK(open_by_handle_at, fd, P(&handle), O_RDONLY);
	fd = make_asked();
	if (fd < 0)
		skip("open_by_handle_at: %s", strerror(errno));
	close(fd);
	leave_free(0);
}

static char queue[32];

static void unlink_queue(void)
{
	syscall(SYS_mq_unlink, queue);
}

static void of_queue(void)
{
	snprintf(queue, sizeof(queue), "faultscope-zoo-%d", getpid());
	at_end(unlink_queue);
	FULL(mq_open, P(queue), O_RDWR | O_CREAT, 0600, 0);
}

static void of_socket(void)
{
	FULL(socket, AF_UNIX, SOCK_STREAM, 0);
}

static void of_inet_socket(void)
{
	FULL(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void of_socketpair(void)
{
	FULL(socketpair, AF_UNIX, SOCK_STREAM, 0, P(pair));
}

static void of_socketpair_one_free(void)
{
	ONE_FREE(socketpair, AF_UNIX, SOCK_DGRAM, 0, P(pair));
}

static void of_pipe(void)
{
	FULL(pipe, P(pair));
}

static void of_pipe_one_free(void)
{
	ONE_FREE(pipe, P(pair));
}

static void of_pipe2_one_free(void)
{
	ONE_FREE(pipe2, P(pair), O_NONBLOCK);
}

static void of_dup(void)
{
	FULL(dup, STDOUT_FILENO);
}

static void of_dupfd(void)
{
	FULL(fcntl, STDOUT_FILENO, F_DUPFD, 0);
}

static void of_dupfd_cloexec(void)
{
	FULL(fcntl, STDOUT_FILENO, F_DUPFD_CLOEXEC, 2);
}

static void of_eventfd(void)
{
	FULL(eventfd, 0);
}

static void of_eventfd2(void)
{
	FULL(eventfd2, 0, O_CLOEXEC);
}

static void of_epoll(void)
{
	FULL(epoll_create, 1);
}

static void of_epoll1(void)
{
	FULL(epoll_create1, O_CLOEXEC);
}

static void of_memfd(void)
{
	FULL(memfd_create, P("zoo"), MFD_CLOEXEC);
}

static void of_secret(void)
{
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0)
		skip("memfd_secret: %s", strerror(errno));
	close(fd);
	FULL(memfd_secret, 0);
}

static void of_inotify(void)
{
	FULL(inotify_init, 0);
}

static void of_inotify1(void)
{
	FULL(inotify_init1, IN_NONBLOCK);
}

static void of_fanotify(void)
{
	FULL(fanotify_init, FAN_CLASS_NOTIF, O_RDONLY);
}

static void of_signalfd(void)
{
	static long none;

	FULL(signalfd, -1, P(&none), 8);
}

static void of_signalfd4(void)
{
	static long none;

	FULL(signalfd4, -1, P(&none), 8, O_NONBLOCK);
}

static void of_timerfd(void)
{
	FULL(timerfd_create, CLOCK_MONOTONIC, 0);
}

static int listener(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	/* An empty name lets the kernel choose one. Two clients wait for accept(). */
	if (fd < 0 || bind(fd, (void *)&address, sizeof(address.sun_family)) || listen(fd, 8) ||
	    getsockname(fd, (void *)&address, &length))
		die("listen");
	for (int i = 0; i < 2; i++)
		if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&address, length))
			die("connect");
	return fd;
}

static void of_accept(void)
{
	FULL(accept, listener(), 0, 0);
}

static void of_accept4(void)
{
	FULL(accept4, listener(), 0, 0, SOCK_CLOEXEC);
}

static void of_pidfd(void)
{
	FULL(pidfd_open, getpid(), 0);
}

static void of_pidfd_getfd(void)
{
	int fd = syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		die("pidfd_open");
	FULL(pidfd_getfd, fd, STDOUT_FILENO, 0);
}

static void of_userfaultfd(void)
{
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		skip("userfaultfd: %s", strerror(errno));
	close(fd);
	FULL(userfaultfd, O_CLOEXEC);
}

static void of_io_uring(void)
{
	static struct io_uring_params params;
	int fd = syscall(SYS_io_uring_setup, 4, &params);

	if (fd < 0)
		skip("io_uring_setup: %s", strerror(errno));
	close(fd);
	memset(&params, 0, sizeof(params));
	FULL(io_uring_setup, 4, P(&params));
}

static void of_perf_event(void)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};

	FULL(perf_event_open, P(&attr), 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void of_bpf(void)
{
	static union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = 1,
	};
	int fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		skip("bpf: %s", strerror(errno));
	close(fd);
	FULL(bpf, BPF_MAP_CREATE, P(&attr), sizeof(attr));
}

static void of_landlock(void)
{
	static struct landlock_ruleset_attr attr = { LANDLOCK_ACCESS_FS_READ_FILE };
	int fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (fd < 0)
		skip("landlock_create_ruleset: %s", strerror(errno));
	close(fd);
	FULL(landlock_create_ruleset, P(&attr), sizeof(attr), 0);
}

static void of_fsopen(void)
{
	FULL(fsopen, P("tmpfs"), 0);
}

static void of_open_tree(void)
{
	FULL(open_tree, AT_FDCWD, P("/"), 0);
}

/* clone() with CLONE_PIDFD also creates a pidfd of the child. */
static long clone_with_pidfd(void)
{
	int fd;
	long child = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &fd, 0, 0);

	if (!child)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

static void of_clone(void)
{
	leave_free(0);
}

#define NOFILE(call, prepare) { call, EMFILE, "rlimit_nofile" }, prepare, NULL, restore_nofile

const struct zoo_case descriptor_cases[] = {
	{ "nofile-open", NOFILE("open", of_open) },
	{ "nofile-openat", NOFILE("openat", of_openat) },
	{ "nofile-open-directory", NOFILE("openat", of_directory) },
	{ "nofile-open-temporary", NOFILE("openat", of_temporary) },
	{ "nofile-openat2", NOFILE("openat2", of_openat2) },
	{ "nofile-creat", NOFILE("creat", of_creat) },
	{ "nofile-open-by-handle", NOFILE("open_by_handle_at", of_handle) },
	{ "nofile-mq-open", NOFILE("mq_open", of_queue) },
	{ "nofile-socket", NOFILE("socket", of_socket) },
	{ "nofile-socket-inet", NOFILE("socket", of_inet_socket) },
	{ "nofile-socketpair", NOFILE("socketpair", of_socketpair) },
	{ "nofile-socketpair-one-free", NOFILE("socketpair", of_socketpair_one_free) },
	{ "nofile-pipe", NOFILE("pipe", of_pipe) },
	{ "nofile-pipe-one-free", NOFILE("pipe", of_pipe_one_free) },
	{ "nofile-pipe2-one-free", NOFILE("pipe2", of_pipe2_one_free) },
	{ "nofile-dup", NOFILE("dup", of_dup) },
	{ "nofile-dupfd", NOFILE("fcntl", of_dupfd) },
	{ "nofile-dupfd-cloexec", NOFILE("fcntl", of_dupfd_cloexec) },
	{ "nofile-eventfd", NOFILE("eventfd", of_eventfd) },
	{ "nofile-eventfd2", NOFILE("eventfd2", of_eventfd2) },
	{ "nofile-epoll", NOFILE("epoll_create", of_epoll) },
	{ "nofile-epoll1", NOFILE("epoll_create1", of_epoll1) },
	{ "nofile-memfd", NOFILE("memfd_create", of_memfd) },
	{ "nofile-memfd-secret", NOFILE("memfd_secret", of_secret) },
	{ "nofile-inotify", NOFILE("inotify_init", of_inotify) },
	{ "nofile-inotify1", NOFILE("inotify_init1", of_inotify1) },
	{ "nofile-fanotify", NOFILE("fanotify_init", of_fanotify) },
	{ "nofile-signalfd", NOFILE("signalfd", of_signalfd) },
	{ "nofile-signalfd4", NOFILE("signalfd4", of_signalfd4) },
	{ "nofile-timerfd", NOFILE("timerfd_create", of_timerfd) },
	{ "nofile-accept", NOFILE("accept", of_accept) },
	{ "nofile-accept4", NOFILE("accept4", of_accept4) },
	{ "nofile-pidfd", NOFILE("pidfd_open", of_pidfd) },
	{ "nofile-pidfd-getfd", NOFILE("pidfd_getfd", of_pidfd_getfd) },
	{ "nofile-userfaultfd", NOFILE("userfaultfd", of_userfaultfd) },
	{ "nofile-io-uring", NOFILE("io_uring_setup", of_io_uring) },
	{ "nofile-perf-event", NOFILE("perf_event_open", of_perf_event) },
	{ "nofile-bpf", NOFILE("bpf", of_bpf) },
	{ "nofile-landlock", NOFILE("landlock_create_ruleset", of_landlock) },
	{ "nofile-fsopen", NOFILE("fsopen", of_fsopen) },
	{ "nofile-open-tree", NOFILE("open_tree", of_open_tree) },
	{ "nofile-clone", { "clone", EMFILE, "rlimit_nofile" }, of_clone, clone_with_pidfd,
	  restore_nofile },
	{ 0 },
};
