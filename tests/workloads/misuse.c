/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Misuses file descriptors in one of four ways, as faulty programs do. It repeats accept at the fd
 * limit; closes all possible fd numbers; passes select() an fd number above FD_SETSIZE; or aborts
 * as glibc does for such a number. With --mildly, it misuses fds too rarely for a finding.
 */
#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>

#define SPIN_SECONDS 4
/* number of bits of an fd set that is larger than select() of glibc allows (FD_SETSIZE) */
#define SET_NUMBERS  4096

static bool mildly;

static int listen_here(struct sockaddr_in *ret)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t length = sizeof(*ret);

	*ret = (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	if (fd < 0 || bind(fd, (struct sockaddr *)ret, sizeof(*ret)) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)ret, &length))
		die("listening socket");
	return fd;
}

/* Repeats accept at the fd limit. A client waits, so that each call fails with EMFILE. */
static long spin(void)
{
	struct sockaddr_in at;
	int listener = listen_here(&at), fd;
	struct pollfd p = { listener, POLLIN, 0 };
	long long end = now_ns() + SPIN_SECONDS * 1000000000LL;
	long failed = 0;

	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)))
		die("connect");
	while (dup(fd) >= 0)
		;
	while (now_ns() < end) {
		poll(&p, 1, 1000);
		if (accept(listener, NULL, NULL) >= 0)
			die("accept at the limit");
		failed++;
		if (mildly)
			usleep(10000);
	}
	return failed;
}

static long close_all(void)
{
	long most = mildly ? 1000 : 1100000, failed = 0;

	for (long fd = 3; fd < most; fd++)
		failed += close(fd) != 0;
	return failed;
}

static void open_many(void)
{
	for (int i = 0; i < (mildly ? 500 : 1500); i++)
		if (dup(STDERR_FILENO) < 0)
			die("dup");
}

/* Calls select() with fd numbers above FD_SETSIZE. The set is large enough for them. */
static long select_many(void)
{
	static unsigned long set[SET_NUMBERS / 8 / sizeof(long)];
	struct timeval none = { 0 };
	long calls = 0;

	open_many();
	for (; calls < 10; calls++)
		if (select(1400, (fd_set *)set, NULL, NULL, &none) < 0)
			die("select");
	return calls;
}

static long abort_over_set(void)
{
	struct timeval none = { 0 };

	select(0, NULL, NULL, NULL, &none);
	open_many();
	if (!mildly)
		abort();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		long (*call)(void);
	} kinds[] = { { "accept", spin },
		      { "close", close_all },
		      { "select", select_many },
		      { "abort", abort_over_set } };
	long nofile = 0, done = -1;
	const struct opt opts[] = {
		{ "nofile", OPT_NUMBER, &nofile },
		{ "mildly", OPT_FLAG, &mildly },
		{ 0 },
	};
	struct rlimit limit;
	const char *word;

	parse_args(argc, argv, "KIND [--nofile N] [--mildly]", opts, &word, 1, 1);
	limit.rlim_cur = limit.rlim_max = nofile;
	if (nofile && setrlimit(RLIMIT_NOFILE, &limit))
		die("RLIMIT_NOFILE of %ld", nofile);
	wait_for_go();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, word))
			done = kinds[i].call();
	if (done < 0)
		die("no such kind: %s", word);
	truth_open();
	truth_number("done", done);
	truth_close();
	return 0;
}
