// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests messages to systemd: to which socket they go, and how often it wants to hear of us. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "export/service_notify.h"
#include "fixture.h"
#include "tap.h"

/* Opens a socket of the given path, or abstract name with '@'. Returns its descriptor. */
static int listen_at(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(at.sun_path, path, strlen(path));
	if (path[0] == '@')
		at.sun_path[0] = 0;
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&at, offsetof(struct sockaddr_un, sun_path) + strlen(path)))
		abort();
	/* the socket of messages shall get the number 0, which is one like others */
	if (fcntl(fd, F_DUPFD_CLOEXEC, 50) != 50)
		abort();
	close(fd);
	return 50;
}

static const char *message(int fd)
{
	static char text[256];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	return text;
}

/* Checks that messages arrive at a socket whose address is the value of NOTIFY_SOCKET. */
static void arrives(const char *path)
{
	int fd = listen_at(path), own;
	struct notify n;

	setenv("NOTIFY_SOCKET", path, 1);
	notify_open(&n);
	own = n.fd;
	ok(own == 0 && fcntl(own, F_GETFD) & FD_CLOEXEC, "a socket for %s", path);
	notify_send(&n, "READY=1");
	notify_send(&n, "WATCHDOG=1\n");
	is_str(message(fd), "READY=1", "a message");
	is_str(message(fd), "WATCHDOG=1\n", "and another");
	is_str(message(fd), "", "and no more");
	notify_close(&n);
	ok(n.fd == -1 && fcntl(own, F_GETFD) == -1 && errno == EBADF, "it is closed");
	notify_send(&n, "READY=1");
	is_str(message(fd), "", "nothing is sent then");
	notify_close(&n);
	close(fd);
	notify_open(&n);
	if (path[0] == '@')
		ok(n.fd == -1, "nobody reads");
	notify_close(&n);
}

/* Checks that a socket is not used, though it is there. */
static void refuses(const char *path)
{
	int fd = listen_at(path);
	struct notify n = {.fd = 77};

	setenv("NOTIFY_SOCKET", path, 1);
	notify_open(&n);
	ok(n.fd == -1, "an address of %zu bytes", strlen(path));
	close(fd);
}

/* The address has at most 108 bytes, of which a path uses 107 and a zero. */
static void test_lengths(void)
{
	struct sockaddr_un at;
	char path[256], name[32];

	for (size_t len = sizeof(at.sun_path) - 2; len < sizeof(at.sun_path); len++) {
		memset(path, '/', sizeof(path));
		memcpy(path, fixture_path(""), strlen(fixture_path("")));
		snprintf(name, sizeof(name), "/%zu", len);
		strcpy(path + len - strlen(name), name);
		arrives(path);
	}
	/* an abstract name may have no zero; one of 108 bytes is not used all the same */
	memset(path, 'x', sizeof(path));
	path[0] = '@';
	path[sizeof(at.sun_path)] = 0;
	refuses(path);
	for (size_t len = sizeof(at.sun_path); len < sizeof(at.sun_path) + 2; len++) {
		struct notify n = {.fd = 77};

		memset(path, '/', len);
		path[len] = 0;
		setenv("NOTIFY_SOCKET", path, 1);
		notify_open(&n);
		ok(n.fd == -1, "a path of %zu bytes is no address", len);
	}
}

static void test_none(void)
{
	struct notify n = {.fd = 77};

	unsetenv("NOTIFY_SOCKET");
	notify_open(&n);
	ok(n.fd == -1, "without systemd");
	notify_send(&n, "READY=1");
	setenv("NOTIFY_SOCKET", "", 1);
	notify_open(&n);
	ok(n.fd == -1, "with an empty address");
	setenv("NOTIFY_SOCKET", fixture_path("absent"), 1);
	notify_open(&n);
	ok(n.fd == -1, "with a socket that is not there");
}

static void test_watchdog(void)
{
	char own[24], other[24];
	static const struct {
		const char *usec;
		int pid; /* 0: not given; 1: ours; 2: that of another process */
		uint64_t ns;
	} rows[] = {
		{NULL, 0, 0},	    {NULL, 1, 0}, {"1", 0, 1000}, {"30000000", 1, 30000000000},
		{"30000000", 2, 0},
	};

	snprintf(own, sizeof(own), "%d", getpid());
	snprintf(other, sizeof(other), "%d", getpid() + 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct notify n;

		unsetenv("WATCHDOG_USEC");
		unsetenv("WATCHDOG_PID");
		if (rows[i].usec)
			setenv("WATCHDOG_USEC", rows[i].usec, 1);
		if (rows[i].pid)
			setenv("WATCHDOG_PID", rows[i].pid == 1 ? own : other, 1);
		notify_open(&n);
		is_u64(n.watchdog_ns, rows[i].ns, "time of the watchdog");
		notify_close(&n);
	}
}

int main(void)
{
	char name[64];

	snprintf(name, sizeof(name), "@faultscope-test-%d", getpid());
	arrives(name);
	test_lengths();
	test_none();
	test_watchdog();
	return tap_done();
}
