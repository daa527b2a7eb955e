// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/listen.h"
#include "tap.h"

static char error[256];

static void refused(const char *address, const char *why)
{
	struct listener l = {.fd = -1};
	int err = listen_open(address, &l, 1, error, sizeof(error));

	ok(err == -EINVAL && strstr(error, "PORT is 0 to 65535"), "%s: %s", address, why);
	if (err > 0)
		close(l.fd);
}

static void test_words(void)
{
	refused("127.0.0.1", "no port");
	refused("127.0.0.1:", "an empty one");
	refused("127.0.0.1:http", "a word");
	refused("127.0.0.1:80x", "a number with a tail");
	refused("127.0.0.1:65536", "beyond the last port");
	refused("127.0.0.1:99999", "beyond the last port, in five digits");
	refused("127.0.0.1:000080", "six digits");
	refused("127.0.0.1:-1", "a negative one");
	refused("::1:80", "IPv6 without brackets");
}

/* Checks that the listener of an address opens, what its name is, and that clients can connect. */
static void opens(const char *address, const char *begin)
{
	struct listener l = {.fd = -1};
	int n = listen_open(address, &l, 1, error, sizeof(error)), flags;

	if (n == -EAFNOSUPPORT || n == -EADDRNOTAVAIL) {
		ok(true, "%s # SKIP %s", address, error);
		return;
	}
	is_u64(n, 1, address);
	ok(!strncmp(l.name, begin, strlen(begin)) && atoi(strrchr(l.name, ':') + 1) > 0,
	   "%s is %s", address, l.name);
	flags = fcntl(l.fd, F_GETFL);
	ok(flags & O_NONBLOCK && fcntl(l.fd, F_GETFD) & FD_CLOEXEC, "waits for nobody");
	close(l.fd);
}

static void test_open(void)
{
	struct listener l;

	opens("127.0.0.1:0", "127.0.0.1:");
	opens("[::1]:0", "[::1]:");
	opens(":0", "[::]:");
	opens("localhost:0", "");
	is_u64(-listen_open("127.0.0.1:0", &l, 0, error, sizeof(error)), E2BIG, "no room");
	ok(strstr(error, "too many addresses"), "and says so: %s", error);
	ok(listen_open("[localhost]:0", &l, 1, error, sizeof(error)) == -EINVAL,
	   "brackets are for numbers");
}

static void test_taken(void)
{
	struct listener one, two;

	if (listen_open("127.0.0.1:0", &one, 1, error, sizeof(error)) != 1)
		abort();
	is_u64(-listen_open(one.name, &two, 1, error, sizeof(error)), EADDRINUSE,
	       "another has the port");
	ok(strstr(error, one.name), "the message names it: %s", error);
	close(one.fd);
	is_u64(listen_open(one.name, &two, 1, error, sizeof(error)), 1, "free again at once");
	is_str(two.name, one.name, "by the same name");
	close(two.fd);
}

/* Tests listening sockets that systemd passes to the process, as sd_listen_fds(3) describes. */
static void test_handed(void)
{
	struct listener l[2];
	char pid[24];
	int fd;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	is_u64(-listen_open("fd://", l, 2, error, sizeof(error)), ENOTCONN, "nothing handed over");
	snprintf(pid, sizeof(pid), "%d", getpid() + 1);
	setenv("LISTEN_PID", pid, 1);
	setenv("LISTEN_FDS", "1", 1);
	is_u64(-listen_open("fd://", l, 2, error, sizeof(error)), ENOTCONN, "to another process");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || dup2(fd, 3) != 3)
		abort();
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("LISTEN_PID", pid, 1);
	is_u64(listen_open("fd://", l, 2, error, sizeof(error)), 1, "one, to us");
	is_u64(l[0].fd, 3, "the first number that is handed over");
	ok(fcntl(3, F_GETFL) & O_NONBLOCK && fcntl(3, F_GETFD) & FD_CLOEXEC, "made ours");
}

int main(void)
{
	test_words();
	test_open();
	test_taken();
	test_handed();
	return tap_done();
}
