/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of objects that the kernel counts for a user, an IPC namespace or the whole machine:
 * marks, timers, signals, keys, message queues, asynchronous requests, terminals, breakpoints.
 */
#include "zoo.h"

#include <linux/aio_abi.h>
#include <linux/hw_breakpoint.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#define FEW 3

static int last_made;

static void close_last(void)
{
	close(last_made);
}

/* Marks of fanotify */

static char directory[64];

static void remove_directories(void)
{
	char path[96];

	for (int i = 0; i <= FEW; i++) {
		snprintf(path, sizeof(path), "%s/%d", directory, i);
		rmdir(path);
	}
	rmdir(directory);
}

static void marks_of_namespace(void)
{
	static char path[96];
	int group;

	strcpy(directory, "/tmp/zoo-XXXXXX");
	if (!mkdtemp(directory))
		die("mkdtemp");
	at_end(remove_directories);
	enter_user_namespace();
	if (!write_text("/proc/sys/user/max_fanotify_marks", "3"))
		skip("user.max_fanotify_marks: %s", strerror(errno));
	group = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY);
	if (group < 0)
		skip("fanotify_init: %s", strerror(errno));
	for (int i = 0; i <= FEW; i++) {
		snprintf(path, sizeof(path), "%s/%d", directory, i);
		if (mkdir(path, 0700))
			die("mkdir");
		if (i < FEW && fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, path))
			skip("fanotify_mark: %s", strerror(errno));
	}
	ASK(fanotify_mark, group, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, P(path));
}

static void remove_mark(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/0", directory);
	if (fanotify_mark(ask.arg[0], FAN_MARK_REMOVE, FAN_OPEN, AT_FDCWD, path))
		die("FAN_MARK_REMOVE");
}

/* POSIX timers and queued signals: both count as queued signals of the user */

static int timers[FEW + 1];

static void timers_of_user(void)
{
	become_another_user();
	soft_limit(RLIMIT_SIGPENDING, FEW);
	for (int i = 0; i < FEW; i++)
		if (syscall(SYS_timer_create, CLOCK_MONOTONIC, NULL, &timers[i]))
			die("timer_create %d", i);
	ASK(timer_create, CLOCK_MONOTONIC, 0, P(&timers[FEW]));
}

static void delete_timer(void)
{
	if (syscall(SYS_timer_delete, timers[0]))
		die("timer_delete");
}

static siginfo_t queued;

static void block_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	queued.si_code = SI_QUEUE;
	queued.si_signo = SIGRTMIN;
}

/* Queues signals before the first call, after the case has waited: a wait accepts signals. */
static long queue_more(void)
{
	static int sent;

	for (; sent < FEW; sent++)
		if (syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN, &queued))
			die("rt_sigqueueinfo");
	return make_asked();
}

static void bound_signals(void)
{
	become_another_user();
	block_signal();
	soft_limit(RLIMIT_SIGPENDING, FEW);
}

static void queues_to_itself(void)
{
	bound_signals();
	ASK(rt_sigqueueinfo, getpid(), SIGRTMIN, P(&queued));
}

static void queues_to_thread(void)
{
	bound_signals();
	ASK(rt_tgsigqueueinfo, getpid(), getpid(), SIGRTMIN, P(&queued));
}

static void accept_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	if (sigwaitinfo(&set, NULL) != SIGRTMIN)
		die("sigwaitinfo");
}

static void accept_none(void)
{
	soft_limit(RLIMIT_SIGPENDING, 0);
}

/* The limit of the receiver counts, not that of the sender. */
static void queues_to_other(void)
{
	pid_t child;

	block_signal();
	child = start_sleeper(accept_none);
	ASK(rt_sigqueueinfo, child, SIGRTMIN, P(&queued));
}

static void let_other_accept(void)
{
	struct rlimit more = { 100, 100 };

	if (prlimit(ask.arg[0], RLIMIT_SIGPENDING, &more, NULL))
		die("prlimit");
}

/* fds in messages that nobody has received */

static int pair[2];
static char control[CMSG_SPACE(sizeof(int))];
static struct iovec byte = { "x", 1 };
static struct msghdr passing = { .msg_iov = &byte, .msg_iovlen = 1, .msg_control = control,
				 .msg_controllen = sizeof(control) };

static void passes_many(void)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(&passing);

	become_another_user();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("socketpair");
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	soft_limit(RLIMIT_NOFILE, 20);
	for (int i = 0; i <= 20; i++)
		if (sendmsg(pair[0], &passing, 0) != 1)
			die("sendmsg %d", i);
	ASK(sendmsg, pair[0], P(&passing), 0);
}

static void receive_one(void)
{
	char room[CMSG_SPACE(sizeof(int))], text;
	struct msghdr m = { .msg_iov = &(struct iovec){ &text, 1 }, .msg_iovlen = 1,
			    .msg_control = room, .msg_controllen = sizeof(room) };

	if (recvmsg(pair[1], &m, 0) != 1)
		die("recvmsg");
}

/* Keys of a user */

static long first_key;
static char payload[30000];

static long new_key(int number, long bytes)
{
	char name[16];

	snprintf(name, sizeof(name), "k%d", number);
	return syscall(SYS_add_key, "user", name, payload, bytes, KEY_SPEC_PROCESS_KEYRING);
}

/* Returns how many keys this user may still create. */
static int free_keys(void)
{
	FILE *f = fopen("/proc/key-users", "re");
	unsigned int uid, used, most;
	char line[128];
	int left = -1;

	if (!f)
		die("/proc/key-users");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%u: %*d %*d/%*d %u/%u", &uid, &used, &most) == 3 &&
		    uid == getuid())
			left = most - used;
	fclose(f);
	return left;
}

static void fill_keys(void)
{
	become_another_user();
	first_key = new_key(0, 1);
	if (first_key < 0)
		skip("add_key: %s", strerror(errno));
	for (int i = 1; free_keys() > 0; i++)
		if (new_key(i, 1) < 0)
			die("add_key %d", i);
}

static void keys_of_user(void)
{
	fill_keys();
	ASK(add_key, P("user"), P("one more"), P(payload), 1, KEY_SPEC_PROCESS_KEYRING);
}

static void key_of_many_bytes(void)
{
	become_another_user();
	ASK(add_key, P("user"), P("large"), P(payload), vary(20001, 30000),
	    KEY_SPEC_PROCESS_KEYRING);
}

static void small_key(void)
{
	ask.arg[3] = 100;
}

static void remove_key(void)
{
	if (syscall(SYS_keyctl, KEYCTL_UNLINK, first_key, KEY_SPEC_PROCESS_KEYRING))
		die("KEYCTL_UNLINK");
	while (free_keys() < 1) /* the kernel releases the key after an RCU grace period */
		usleep(1000);
}

static void joins_keyring(void)
{
	fill_keys();
	ASK(keyctl, KEYCTL_JOIN_SESSION_KEYRING, P("zoo"));
}

static void updates_key(void)
{
	become_another_user();
	first_key = new_key(0, 1);
	if (first_key < 0)
		skip("add_key: %s", strerror(errno));
	if (new_key(1, 18000) < 0)
		die("add_key");
	ASK(keyctl, KEYCTL_UPDATE, first_key, P(payload), 4000);
}

/* POSIX message queues, in the case's own IPC namespace */

static struct mq_attr attributes = { .mq_maxmsg = 2, .mq_msgsize = 64 };

static long new_queue(const char *name)
{
	return syscall(SYS_mq_open, name, O_RDWR | O_CREAT, 0600, &attributes);
}

static void too_many_queues(void)
{
	enter_ipc_namespace();
	write_number("/proc/sys/fs/mqueue/queues_max", FEW);
	drop_capability(CAP_SYS_RESOURCE);
	if (new_queue("b") < 0 || new_queue("c") < 0 || (last_made = new_queue("a")) < 0)
		die("mq_open");
	ASK(mq_open, P("d"), O_RDWR | O_CREAT, 0600, P(&attributes));
}

static void unlink_queue(void)
{
	close_last();
	if (syscall(SYS_mq_unlink, "a"))
		die("mq_unlink");
}

static void queue_of_many_messages(void)
{
	enter_ipc_namespace();
	drop_capability(CAP_SYS_RESOURCE);
	attributes.mq_maxmsg = 11 + vary(0, 100);
	ASK(mq_open, P("a"), O_RDWR | O_CREAT, 0600, P(&attributes));
}

static void queue_of_too_many_messages(void)
{
	enter_ipc_namespace();
	attributes.mq_maxmsg = 65537;
	ASK(mq_open, P("a"), O_RDWR | O_CREAT, 0600, P(&attributes));
}

static void queue_of_long_messages(void)
{
	enter_ipc_namespace();
	drop_capability(CAP_SYS_RESOURCE);
	attributes.mq_msgsize = 8193 + vary(0, 10000);
	ASK(mq_open, P("a"), O_RDWR | O_CREAT, 0600, P(&attributes));
}

static void small_queue(void)
{
	attributes = (struct mq_attr){ .mq_maxmsg = 2, .mq_msgsize = 64 };
}

/* Asynchronous requests of the whole machine */

static aio_context_t contexts[2];

static void requests_more_than_all(void)
{
	ASK(io_setup, read_number("/proc/sys/fs/aio-max-nr") + 1, P(&contexts[0]));
}

static void request_few(void)
{
	ask.arg[0] = 10;
}

static void requests_more_than_rest(void)
{
	long most = read_number("/proc/sys/fs/aio-max-nr");

	if (syscall(SYS_io_setup, most / 2 + 1, &contexts[0]))
		skip("io_setup: %s", strerror(errno));
	ASK(io_setup, most / 2 + 1, P(&contexts[1]));
}

static void destroy_context(void)
{
	if (syscall(SYS_io_destroy, contexts[0]))
		die("io_destroy");
}

/* Terminals of a devpts of its own */

static void too_many_terminals(void)
{
	enter_mount_namespace();
	if (mount("none", "/dev/pts", "devpts", 0, "max=3,ptmxmode=666"))
		skip("devpts: %s", strerror(errno));
	for (int i = 0; i < FEW; i++) {
		last_made = open("/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (last_made < 0)
			die("ptmx %d", i);
	}
	ASK(openat, AT_FDCWD, P("/dev/pts/ptmx"), O_RDWR | O_NOCTTY);
}

static void too_many_terminals_by_open(void)
{
	too_many_terminals();
	ASK(open, P("/dev/pts/ptmx"), O_RDWR | O_NOCTTY);
}

static void another_breakpoint(void)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = HW_BREAKPOINT_W,
		.bp_len = HW_BREAKPOINT_LEN_4, .exclude_kernel = 1,
	};
	int fd;

	attr.bp_addr = P(&last_made);
	last_made = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (last_made < 0)
		skip("perf_event_open: %s", strerror(errno));
	while ((fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)) >= 0)
		last_made = fd;
	if (errno != ENOSPC)
		skip("perf_event_open: %s", strerror(errno));
	ASK(perf_event_open, P(&attr), 0, -1, -1, 0);
}

/* Quotas of tmpfs exist since Linux 6.6. They do not apply to root. */
static char place[] = "/tmp/zoo-quota-XXXXXX";

static void remove_place(void)
{
	umount2(place, MNT_DETACH); /* a mount point cannot be removed */
	rmdir(place);
}

static void files_beyond_quota(void)
{
	static char path[64];

	enter_mount_namespace();
	if (!mkdtemp(place))
		die("mkdtemp");
	at_end(remove_place);
	if (mount("none", place, "tmpfs", 0, "mode=1777,usrquota_inode_hardlimit=3"))
		skip("tmpfs with quotas: %s", strerror(errno));
	become_another_user();
	for (int i = 0; i <= FEW; i++) {
		snprintf(path, sizeof(path), "%s/%d", place, i);
		if (i < FEW && open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600) < 0)
			die("open %s", path);
	}
	ASK(openat, AT_FDCWD, P(path), O_CREAT | O_RDWR, 0600);
}

static void remove_file(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/0", place);
	close_last();
	if (unlink(path))
		die("unlink");
	for (int fd = 3; fd < 20; fd++)
		close(fd); /* a file counts until it is closed */
}

static void fail_as(long ret, int error, const char *what)
{
	if (ret != -1 || errno != error)
		die("%s did not fail with %s, but returned %ld", what, strerrorname_np(error), ret);
}

/* Control tests: calls of this file that fail for everyday reasons */
static long fails_daily(void)
{
	aio_context_t used = 1;
	int none;

	block_signal();
	fail_as(new_key(0, -1), EINVAL, "a key of too many bytes");
	fail_as(syscall(SYS_keyctl, KEYCTL_UPDATE, 123456789, payload, 1), ENOKEY, "no such key");
	fail_as(syscall(SYS_timer_create, 12345, NULL, &none), EINVAL, "a timer of no clock");
	fail_as(syscall(SYS_rt_sigqueueinfo, 2000000000, SIGRTMIN, &queued), ESRCH,
		"a signal to nobody");
	fail_as(syscall(SYS_io_setup, 10, &used), EINVAL, "io_setup of a used context");
	fail_as(syscall(SYS_mq_open, "none", O_RDWR, 0, NULL), ENOENT, "mq_open of no queue");
	attributes.mq_maxmsg = 0;
	fail_as(syscall(SYS_mq_open, "none", O_RDWR | O_CREAT, 0600, &attributes), EINVAL,
		"mq_open without messages");
	fail_as(open("/dev/full/ptmx", O_RDWR), ENOTDIR, "open below a file");
	fail_as(unshare(1), EINVAL, "unshare of nothing that exists");
	fail_as(mount("none", "/nowhere", "tmpfs", 0, NULL), ENOENT, "mount nowhere");
	fail_as(fanotify_mark(-1, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "/"), EBADF, "no group");
	return 0;
}

#define QUEUE(error, cause, prepare, lift) { "mq_open", error, cause }, prepare, NULL, lift

const struct zoo_case counted_cases[] = {
	{ "fanotify-marks", { "fanotify_mark", ENOSPC, "fanotify_marks" }, marks_of_namespace,
	  NULL, remove_mark },
	{ "sigpending-timer", { "timer_create", EAGAIN, "rlimit_sigpending" }, timers_of_user,
	  NULL, delete_timer },
	{ "sigpending-queue", { "rt_sigqueueinfo", EAGAIN, "rlimit_sigpending" }, queues_to_itself,
	  queue_more, accept_signal },
	{ "sigpending-thread", { "rt_tgsigqueueinfo", EAGAIN, "rlimit_sigpending" },
	  queues_to_thread, queue_more, accept_signal },
	{ "sigpending-other", { "rt_sigqueueinfo", EAGAIN, "rlimit_sigpending",
	    .undecidable = true }, queues_to_other, NULL, let_other_accept },
	{ "fds-in-flight", { "sendmsg", ETOOMANYREFS, "fds_in_flight" }, passes_many, NULL,
	  receive_one },
	{ "keys-number", { "add_key", EDQUOT, "maxkeys" }, keys_of_user, NULL, remove_key },
	{ "keys-bytes", { "add_key", EDQUOT, "maxbytes" }, key_of_many_bytes, NULL, small_key },
	{ "keys-keyring", { "keyctl", EDQUOT, "maxkeys" }, joins_keyring, NULL, remove_key },
	{ "keys-update", { "keyctl", EDQUOT, "maxbytes" }, updates_key, NULL, small_key },
	{ "mqueue-queues", QUEUE(ENOSPC, "mqueue_queues_max", too_many_queues, unlink_queue) },
	{ "mqueue-messages", QUEUE(EINVAL, "mqueue_msg_max", queue_of_many_messages, small_queue) },
	{ "mqueue-messages-hard",
	  QUEUE(EINVAL, "mqueue_msg_max", queue_of_too_many_messages, small_queue) },
	{ "mqueue-bytes",
	  QUEUE(EINVAL, "mqueue_msgsize_max", queue_of_long_messages, small_queue) },
	{ "aio-more-than-all", { "io_setup", EAGAIN, "aio_max_nr" }, requests_more_than_all, NULL,
	  request_few },
	{ "aio-more-than-rest", { "io_setup", EAGAIN, "aio_max_nr" }, requests_more_than_rest,
	  NULL, destroy_context },
	{ "pty-max", { "openat", ENOSPC, "pty_max" }, too_many_terminals, NULL, close_last },
	{ "pty-max-open", { "open", ENOSPC, "pty_max" }, too_many_terminals_by_open, NULL,
	  close_last },
	{ "breakpoints", { "perf_event_open", ENOSPC, "hardware_breakpoints" }, another_breakpoint,
	  NULL, close_last },
	{ "quota-files", { "openat", EDQUOT, "file_quota" }, files_beyond_quota, NULL,
	  remove_file },
	{ "control-counted", .make = fails_daily, .control = true },
	{ 0 },
};
