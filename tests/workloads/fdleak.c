/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens N file descriptors of a kind, or as many as the kernel permits, and keeps them open. */
#include "common.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#define MOST_FDS (1L << 20)
/* Maximum number of inotify instances of kind "all". fs.inotify.max_user_instances is often 128. */
#define MOST_INOTIFY_OF_ALL 32

struct kind {
	const char *name;
	/* Opens one or two file descriptors into fd[]. Returns their number, or -1 with errno. */
	int (*make)(int *fd);
};

static int fds[MOST_FDS + 1];
static int listener;
static int passing[2];
static pid_t connector;

static int one(int *fd, int made)
{
	*fd = made;
	return made < 0 ? -1 : 1;
}

static int two(int failed)
{
	return failed ? -1 : 2;
}

static int make_file(int *fd)
{
	return one(fd, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
}

static int make_socket(int *fd)
{
	return one(fd, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int make_eventfd(int *fd)
{
	return one(fd, eventfd(0, EFD_CLOEXEC));
}

static int make_epoll(int *fd)
{
	return one(fd, epoll_create1(EPOLL_CLOEXEC));
}

static int make_memfd(int *fd)
{
	return one(fd, memfd_create("fdleak", MFD_CLOEXEC));
}

static int make_pipe(int *fd)
{
	return two(pipe2(fd, O_CLOEXEC));
}

static int make_socketpair(int *fd)
{
	return two(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
}

static int make_dup(int *fd)
{
	return one(fd, dup(STDOUT_FILENO));
}

static int make_timerfd(int *fd)
{
	return one(fd, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

static int make_signalfd(int *fd)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	return one(fd, signalfd(-1, &mask, SFD_CLOEXEC));
}

static int make_pidfd(int *fd)
{
	return one(fd, syscall(SYS_pidfd_open, getpid(), 0));
}

static int make_inotify(int *fd)
{
	return one(fd, inotify_init1(IN_CLOEXEC));
}

static int make_accept(int *fd)
{
	return one(fd, accept4(listener, NULL, NULL, SOCK_CLOEXEC));
}

/*
 * Sends stdin to this process in a message, which gives it another file descriptor. At the fd
 * limit, recvmsg() succeeds but delivers no file descriptor.
 */
static int make_scm(int *fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	char byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	const int sent = STDIN_FILENO;

	memcpy(CMSG_DATA(&control.header), &sent, sizeof(sent));
	if (sendmsg(passing[0], &message, 0) != 1 ||
	    recvmsg(passing[1], &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	if (!CMSG_FIRSTHDR(&message)) {
		errno = 0;
		return -1;
	}
	memcpy(fd, CMSG_DATA(&control.header), sizeof(*fd));
	return 1;
}

/* Creates a new file for each file descriptor, and unlinks it at once. */
static int make_open_many(int *fd)
{
	static long index;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/fdleak.%d.%ld", getpid(), index++);
	*fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (*fd < 0)
		return -1;
	unlink(path);
	return 1;
}

static const struct kind kinds[] = {
	{ "file", make_file },
	{ "socket", make_socket },
	{ "eventfd", make_eventfd },
	{ "epoll", make_epoll },
	{ "memfd", make_memfd },
	{ "pipe", make_pipe },
	{ "socketpair", make_socketpair },
	{ "dup", make_dup },
	{ "timerfd", make_timerfd },
	{ "signalfd", make_signalfd },
	{ "pidfd", make_pidfd },
	{ "inotify", make_inotify },
	{ "accept", make_accept },
	{ "scm", make_scm },
	{ "open_many", make_open_many },
};

#define N_KINDS ((long)(sizeof(kinds) / sizeof(kinds[0])))

static const struct kind *find_kind(const char *name)
{
	for (long i = 0; i < N_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	errno = 0;
	die("no such kind: %s", name);
}

/*
 * Returns the kind of the fd with number `turn`. If the argument is "all", each kind is used in
 * turn; otherwise it is the given kind. In later rounds of "all", another kind replaces inotify,
 * because few inotify instances are allowed.
 */
static const struct kind *kind_of_turn(const struct kind *kind, long turn)
{
	if (kind)
		return kind;
	kind = &kinds[turn % N_KINDS];
	if (kind->make == make_inotify && turn / N_KINDS >= MOST_INOTIFY_OF_ALL)
		return &kinds[0];
	return kind;
}

/* Starts a child that connects repeatedly, so that this process makes only accept calls. */
static void start_connector(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(sa_family_t);
	pid_t parent = getpid();
	int fd;

	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) ||
	    listen(listener, 16))
		die("listening socket");
	length = sizeof(address);
	getsockname(listener, (struct sockaddr *)&address, &length);
	connector = fork_or_die();
	if (connector)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(listener);
	while (getppid() == parent) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(fd, (struct sockaddr *)&address, length);
		close(fd);
	}
	_exit(0);
}

static void prepare(const struct kind *kind)
{
	if (!kind || kind->make == make_accept)
		start_connector();
	if ((!kind || kind->make == make_scm) &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, passing))
		die("socketpair");
}

static void stop_connector(void)
{
	if (connector) {
		kill(connector, SIGKILL);
		waitpid(connector, NULL, 0);
	}
}

static long set_nofile(long soft)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (soft) {
		limit.rlim_cur = soft;
		if (limit.rlim_max < limit.rlim_cur)
			limit.rlim_max = limit.rlim_cur;
		if (setrlimit(RLIMIT_NOFILE, &limit))
			die("setrlimit RLIMIT_NOFILE %ld", soft);
	}
	return limit.rlim_cur;
}

/* Tests each fd number, because at the fd limit /proc/self/fd cannot be opened. */
static long count_open(long limit, long *highest)
{
	long open_now = 0;

	for (long fd = 0; fd < limit; fd++)
		if (fcntl(fd, F_GETFD) >= 0) {
			open_now++;
			*highest = fd;
		}
	return open_now;
}

static long close_every_third(long made)
{
	long closed = 0;

	for (long i = 2; i < made; i += 3, closed++)
		if (close(fds[i]))
			die("close %d", fds[i]);
	return closed;
}

int main(int argc, char **argv)
{
	long wanted, made = 0, closed = 0, soft = 0, rate = 0, highest = -1, before, limit;
	const char *word, *kind_name = "file";
	bool holes = false;
	const struct opt opts[] = {
		{ "kind", OPT_TEXT, &kind_name },
		{ "nofile", OPT_NUMBER, &soft },
		{ "rate", OPT_NUMBER, &rate },
		{ "holes", OPT_FLAG, &holes },
		{ 0 },
	};
	const struct kind *kind = NULL;
	bool refused = false;
	int refusal = 0, got;
	long long start;

	parse_args(argc, argv,
		   "N|limit [--kind KIND|all] [--nofile SOFT] [--holes] [--rate PER_SEC]", opts,
		   &word, 1, 1);
	wanted = parse_count(word);
	if (strcmp(kind_name, "all"))
		kind = find_kind(kind_name);
	prepare(kind);
	limit = set_nofile(0);
	before = count_open(limit, &highest);
	soft = set_nofile(soft);
	limit = limit < soft ? soft : limit;
	wait_for_go();

	start = now_ns();
	for (long turn = 0; made < wanted && made < MOST_FDS; turn++) {
		got = kind_of_turn(kind, turn)->make(&fds[made]);
		if (got < 0) {
			refused = true;
			refusal = errno;
			break;
		}
		made += got;
		keep_rate(start, made, rate);
	}
	if (holes)
		closed = close_every_third(made);

	truth_open();
	truth_text("kind", kind_name);
	truth_number("nofile", soft);
	truth_number("made", made);
	truth_number("refused", refused);
	truth_errno(refusal);
	truth_number("closed", closed);
	truth_number("open_before", before);
	truth_number("open_now", count_open(limit, &highest));
	truth_number("highest_fd", highest);
	truth_close();
	stop_connector();
	return 0;
}
