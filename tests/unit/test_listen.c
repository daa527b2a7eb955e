// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/resource.h>
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
	refused("[::1:80", "IPv6 without the last bracket");
	refused("::1]:80", "IPv6 without the first bracket");
}

/* Checks that an address has the right form, though there is no such host. */
static void unknown(const char *address, const char *what)
{
	struct listener l = {.fd = -1};

	ok(listen_open(address, &l, 1, error, sizeof(error)) == -EINVAL &&
		   !strstr(error, "PORT is 0 to 65535"),
	   "%s: %s", what, error);
}

/* The last port, and the longest host. Brackets are for numbers, so that no name is looked up. */
static void test_longest(void)
{
	char address[300];

	unknown("[x]:65535", "the last port");
	unknown("[x]:00080", "five digits");
	refused("[x]:65536", "one port more");
	memset(address, 'x', sizeof(address));
	address[0] = '[';
	strcpy(address + 256, "]:1");
	unknown(address, "a host of 255 bytes");
	address[256] = 'x';
	strcpy(address + 257, "]:1");
	refused(address, "a host of 256 bytes");
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
	ok(!strncmp(l.name, begin, strlen(begin)) && atoi(strrchr(l.name, ':') + 1) > 0, "%s is %s",
	   address, l.name);
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
	opens("[]:0", "[::]:");
	opens("localhost:0", "");
	is_u64(-listen_open("127.0.0.1:0", &l, 0, error, sizeof(error)), E2BIG, "no room");
	ok(strstr(error, "too many addresses"), "and says so: %s", error);
	ok(listen_open("[localhost]:0", &l, 1, error, sizeof(error)) == -EINVAL,
	   "brackets are for numbers");
}

static int option(const struct listener *l, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(l->fd, level, name, &value, &len) ? -1 : value;
}

/* 0.0.0.0 and [::] can have sockets of their own; the empty host is both. */
static void test_options(void)
{
	struct listener l;

	if (listen_open("[::]:0", &l, 1, error, sizeof(error)) == 1) {
		is_u64(option(&l, IPPROTO_IPV6, IPV6_V6ONLY), 1, "[::] is IPv6 alone");
		close(l.fd);
	}
	if (listen_open(":0", &l, 1, error, sizeof(error)) == 1 && l.name[0] == '[') {
		is_u64(option(&l, IPPROTO_IPV6, IPV6_V6ONLY), 0, "all addresses are also IPv4");
		close(l.fd);
	}
	if (listen_open("127.0.0.1:0", &l, 1, error, sizeof(error)) != 1)
		abort();
	is_u64(option(&l, SOL_SOCKET, SO_REUSEADDR), 1, "a port is free at once");
	is_u64(option(&l, SOL_SOCKET, SO_ACCEPTCONN), 1, "clients can connect");
	is_u64(option(&l, SOL_SOCKET, SO_TYPE), SOCK_STREAM, "with a stream");
	close(l.fd);
}

/* Returns the lowest descriptor that is free. */
static int next_fd(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	return fd;
}

static void test_no_descriptors(void)
{
	struct rlimit old, none;
	struct listener l;
	int err;

	if (getrlimit(RLIMIT_NOFILE, &old))
		abort();
	none = (struct rlimit){.rlim_cur = next_fd(), .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	err = listen_open("127.0.0.1:0", &l, 1, error, sizeof(error));
	setrlimit(RLIMIT_NOFILE, &old);
	is_u64(-err, EMFILE, "no descriptor is left");
	is_str(error, "cannot listen on 127.0.0.1:0: Too many open files", "and says so");
}

static void test_taken(void)
{
	struct listener one, two;
	int fd;

	if (listen_open("127.0.0.1:0", &one, 1, error, sizeof(error)) != 1)
		abort();
	fd = next_fd();
	is_u64(-listen_open(one.name, &two, 1, error, sizeof(error)), EADDRINUSE,
	       "another has the port");
	ok(strstr(error, one.name), "the message names it: %s", error);
	is_u64(next_fd(), fd, "no descriptor is lost");
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
	is_u64(-listen_open("fd://x", l, 2, error, sizeof(error)), ENOTCONN, "also with a name");
	refused("fd:/x", "no address");
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
	setenv("LISTEN_FDS", "0", 1);
	is_u64(-listen_open("fd://", l, 2, error, sizeof(error)), ENOTCONN, "none, to us");
}

/* Hands over the descriptors from 3 on. Returns what became of them. */
static int hand(const char *n, struct listener *ret, size_t room)
{
	setenv("LISTEN_FDS", n, 1);
	memset(ret, 0, 4 * sizeof(*ret));
	return listen_open("fd://", ret, room, error, sizeof(error));
}

/* As many sockets as there is room for are taken, in their order. */
static void test_many_handed(void)
{
	struct listener l[4];
	int fd = open("/dev/null", O_RDONLY), tcp = socket(AF_INET, SOCK_STREAM, 0);

	if (dup2(tcp, 20) != 20 || dup2(fd, 21) != 21 || dup2(20, 3) != 3 || dup2(21, 4) != 4 ||
	    dup2(20, 5) != 5)
		abort();
	is_u64(hand("3", l, 4), 3, "three sockets, room for four");
	is_u64(hand("3", l, 3), 3, "room for three");
	ok(l[0].fd == 3 && l[1].fd == 4 && l[2].fd == 5, "by their numbers");
	is_str(l[0].name, "0.0.0.0:0", "the name of an address");
	is_str(l[1].name, "fd://1", "what has no address has its number");
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (dup2(fd, 4) != 4)
		abort();
	close(fd);
	is_u64(hand("3", l, 3), 3, "with a Unix socket");
	is_str(l[1].name, "fd://1", "which has its number, too");
	is_u64(hand("3", l, 2), 2, "room for two");
	ok(l[1].fd == 4 && !l[2].fd, "only they are taken");
	close(5);
	is_u64(-hand("3", l, 4), EBADF, "a number without a file");
	is_str(error, "cannot listen on fd://: Bad file descriptor", "and says so");
	for (int i = 3; i <= 4; i++)
		close(i);
	close(20);
	close(21);
}

int main(void)
{
	test_words();
	test_longest();
	test_open();
	test_options();
	test_no_descriptors();
	test_taken();
	test_handed();
	test_many_handed();
	return tap_done();
}
