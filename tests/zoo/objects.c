/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of limits for each user: inotify and fanotify objects, pipe pages, message queues, and
 * memory that io_uring pins.
 */
#include "zoo.h"

#include <linux/io_uring.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#define FEW 3

static int last_made;

static void close_last(void)
{
	close(last_made);
}

/* Creates `count` inotify instances. The call under test creates one more. */
static void make_instances(long count)
{
	for (long i = 0; i < count; i++) {
		last_made = inotify_init1(IN_CLOEXEC);
		if (last_made < 0)
			die("inotify_init1 %ld of %ld", i, count);
	}
	ASK(inotify_init1, IN_CLOEXEC);
}

static void instances_of_user(void)
{
	long count = read_number("/proc/sys/fs/inotify/max_user_instances");

	become_another_user();
	make_instances(count);
}

/* A user namespace has its own limit of inotify instances, which is below the host's. */
static void instances_of_namespace(void)
{
	enter_user_namespace();
	write_number("/proc/sys/user/max_inotify_instances", FEW);
	make_instances(FEW);
}

/*
 * More files are open than RLIMIT_NOFILE allows, but they have higher numbers. So lower numbers are
 * free, and RLIMIT_NOFILE is not the cause.
 */
static void instances_beside_high_numbers(void)
{
	for (int i = 0; i < 200; i++)
		if (fcntl(STDOUT_FILENO, F_DUPFD, 300) < 0)
			die("F_DUPFD");
	instances_of_namespace();
	soft_limit(RLIMIT_NOFILE, 100);
}

static char directory[64];

static void remove_directory(void)
{
	char path[96];

	for (int i = 0; i <= FEW; i++) {
		snprintf(path, sizeof(path), "%s/%d", directory, i);
		rmdir(path);
	}
	rmdir(directory);
}

/* Watches directories up to the limit. The call under test adds one more watch. */
static void watches_of_namespace(void)
{
	static char path[96];
	int notify;

	strcpy(directory, "/tmp/zoo-XXXXXX");
	if (!mkdtemp(directory))
		die("mkdtemp");
	at_end(remove_directory);
	enter_user_namespace();
	write_number("/proc/sys/user/max_inotify_watches", FEW);
	notify = inotify_init1(IN_CLOEXEC);
	for (int i = 0; i <= FEW; i++) {
		snprintf(path, sizeof(path), "%s/%d", directory, i);
		if (mkdir(path, 0700))
			die("mkdir");
		if (i < FEW)
			last_made = inotify_add_watch(notify, path, IN_CREATE);
		if (last_made < 0)
			die("inotify_add_watch");
	}
	ASK(inotify_add_watch, notify, P(path), IN_CREATE);
}

static void remove_watch(void)
{
	if (inotify_rm_watch(ask.arg[0], last_made))
		die("inotify_rm_watch");
}

/*
 * fanotify_init fails with EMFILE because the limit of fanotify groups is reached. RLIMIT_NOFILE is
 * not reached.
 */
static void groups_of_namespace(void)
{
	const unsigned int flags = FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC;

	enter_user_namespace();
	if (!write_text("/proc/sys/user/max_fanotify_groups", "3"))
		skip("user.max_fanotify_groups: %s", strerror(errno));
	for (int i = 0; i < FEW; i++) {
		last_made = fanotify_init(flags, O_RDONLY);
		if (last_made < 0)
			skip("fanotify_init: %s", strerror(errno));
	}
	ASK(fanotify_init, flags, O_RDONLY);
}

static int last_pipe[2];

/* The kernel limits the pages of all pipes of a user without capabilities. */
static void pipes_of_user(void)
{
	long most = read_number("/proc/sys/fs/pipe-user-pages-soft");
	long size = read_number("/proc/sys/fs/pipe-max-size");
	int pipes = most * PAGE_BYTES / size, ends[2];

	if (!most || !pipes)
		skip("fs.pipe-user-pages-soft is %ld", most);
	become_another_user();
	for (int i = 0; i < pipes; i++) {
		if (pipe(ends) || fcntl(ends[0], F_SETPIPE_SZ, size) < size)
			die("pipe %d of %d", i, pipes);
		memcpy(last_pipe, ends, sizeof(ends));
	}
	if (pipe(ends))
		die("pipe");
	ASK(fcntl, ends[0], F_SETPIPE_SZ, size);
}

static void close_last_pipe(void)
{
	close(last_pipe[0]);
	close(last_pipe[1]);
}

/* mq_open fails with EMFILE because RLIMIT_MSGQUEUE is reached. RLIMIT_NOFILE is not reached. */
static char queue[32];

static void unlink_queue(void)
{
	syscall(SYS_mq_unlink, queue);
}

static void queue_bytes(void)
{
	snprintf(queue, sizeof(queue), "faultscope-zoo-%d", getpid());
	at_end(unlink_queue);
	ASK(mq_open, P(queue), O_RDWR | O_CREAT, 0600, 0);
	soft_limit(RLIMIT_MSGQUEUE, 0);
}

static void restore_queue_bytes(void)
{
	restore_limit(RLIMIT_MSGQUEUE);
}

static void restore_memlock(void)
{
	restore_limit(RLIMIT_MEMLOCK);
}

/* The kernel limits the memory that io_uring pins for one user. */
static void registered_buffers(void)
{
	static struct iovec buffer;
	struct io_uring_params params = { 0 };
	int fd;

	become_another_user();
	fd = syscall(SYS_io_uring_setup, 4, &params);
	if (fd < 0)
		skip("io_uring_setup: %s", strerror(errno));
	buffer.iov_len = vary(64, 256) * PAGE_BYTES;
	buffer.iov_base = map_anon(buffer.iov_len, RW, 0);
	ASK(io_uring_register, fd, IORING_REGISTER_BUFFERS, P(&buffer), 1);
	soft_limit(RLIMIT_MEMLOCK, buffer.iov_len / 2);
}

const struct zoo_case object_cases[] = {
	{ "inotify-instances", { "inotify_init1", EMFILE, "inotify_instances" }, instances_of_user,
	  NULL, close_last },
	{ "inotify-instances-of-namespace", { "inotify_init1", EMFILE, "inotify_instances" },
	  instances_of_namespace, NULL, close_last },
	{ "inotify-instances-high-numbers", { "inotify_init1", EMFILE, "inotify_instances" },
	  instances_beside_high_numbers, NULL, close_last },
	{ "inotify-watches", { "inotify_add_watch", ENOSPC, "inotify_watches" },
	  watches_of_namespace, NULL, remove_watch },
	{ "fanotify-groups", { "fanotify_init", EMFILE, "fanotify_groups" }, groups_of_namespace,
	  NULL, close_last },
	{ "pipe-pages", { "fcntl", EPERM, "pipe_pages" }, pipes_of_user, NULL, close_last_pipe },
	{ "queue-bytes", { "mq_open", EMFILE, "rlimit_msgqueue" }, queue_bytes, NULL,
	  restore_queue_bytes },
	{ "io-uring-buffers", { "io_uring_register", ENOMEM, "rlimit_memlock" },
	  registered_buffers, NULL, restore_memlock },
	{ 0 },
};
