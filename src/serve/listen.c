// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_HANDED 3 /* first inherited socket: SD_LISTEN_FDS_START of sd_listen_fds(3) */
#define BACKLOG	     64

static int say(char *error, size_t size, int err, const char *address, const char *what)
{
	snprintf(error, size, "cannot listen on %.64s: %s", address, what);
	return err;
}

/*
 * Returns whether `s` is a port number. getaddrinfo() would truncate a larger number to 16 bits:
 * 99999 would become 34463.
 */
static bool is_port(const char *s)
{
	return s[0] && strspn(s, "0123456789") == strlen(s) && strlen(s) <= 5 && atoi(s) <= 65535;
}

/* Splits HOST:PORT, [HOST]:PORT or :PORT (which means all addresses). Returns 0 or -EINVAL. */
static int split(const char *address, char *host, size_t host_size, char *port, size_t port_size)
{
	const char *colon = strrchr(address, ':');
	size_t len;

	if (!colon || !is_port(colon + 1) || strlen(colon + 1) >= port_size)
		return -EINVAL;
	len = colon - address;
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']')
		address++, len -= 2;
	else if (memchr(address, ':', len))
		return -EINVAL; /* an IPv6 address without brackets is ambiguous */
	if (len >= host_size)
		return -EINVAL;
	memcpy(host, address, len);
	host[len] = 0;
	strcpy(port, colon + 1);
	return 0;
}

static void name_of(int fd, const char *otherwise, char *ret, size_t size)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	char host[48], port[8];

	/* getnameinfo(3) would also name a Unix socket, by the name of the host */
	if (!getsockname(fd, (struct sockaddr *)&at, &len) && at.ss_family != AF_UNIX &&
	    !getnameinfo((struct sockaddr *)&at, len, host, sizeof(host), port, sizeof(port),
			 NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(ret, size, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	else
		snprintf(ret, size, "%s", otherwise);
}

static int open_one(const struct addrinfo *at)
{
	int one = 1, err;
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* permit separate sockets for 0.0.0.0 and [::] */
	if (at->ai_family == AF_INET6 && at->ai_flags & AI_NUMERICHOST)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (!bind(fd, at->ai_addr, at->ai_addrlen) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int open_address(const char *address, struct listener *ret, char *error, size_t size)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
	char host[256], port[32];
	int err;

	if (split(address, host, sizeof(host), port, sizeof(port)))
		return say(error, size, -EINVAL, address,
			   "expected HOST:PORT, [IPV6]:PORT, :PORT or fd://; PORT is 0 to 65535");
	if (!*host)
		/* with an empty host, listen on all addresses: an IPv6 socket also accepts IPv4 */
		hints.ai_family = AF_INET6;
	else if (address[0] == '[')
		hints.ai_flags |= AI_NUMERICHOST;
	err = getaddrinfo(*host ? host : NULL, port, &hints, &list);
	if (err)
		return say(error, size, -EINVAL, address, gai_strerror(err));
	list->ai_flags = hints.ai_flags;
	ret->fd = open_one(list);
	freeaddrinfo(list);
	if (ret->fd == -EAFNOSUPPORT && !*host) {
		char every[48];

		snprintf(every, sizeof(every), "0.0.0.0:%s", port);
		return open_address(every, ret, error, size);
	}
	if (ret->fd < 0)
		return say(error, size, ret->fd, address, strerror(-ret->fd));
	name_of(ret->fd, address, ret->name, sizeof(ret->name));
	return 1;
}

static int take_handed(struct listener *ret, size_t room, char *error, size_t size)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int n = pid && fds && atoi(pid) == getpid() ? atoi(fds) : 0;

	if (n <= 0)
		return say(error, size, -ENOTCONN, "fd://",
			   "systemd passed no socket (LISTEN_FDS): start the socket unit, not the "
			   "service");
	if ((size_t)n > room)
		n = room;
	for (int i = 0; i < n; i++) {
		int fd = FIRST_HANDED + i;
		char otherwise[24];

		if (fcntl(fd, F_SETFD, FD_CLOEXEC) ||
		    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
			return say(error, size, -errno, "fd://", strerror(errno));
		snprintf(otherwise, sizeof(otherwise), "fd://%d", i);
		ret[i].fd = fd;
		name_of(fd, otherwise, ret[i].name, sizeof(ret[i].name));
	}
	return n;
}

int listen_open(const char *address, struct listener *ret, size_t room, char *error, size_t size)
{
	if (!room)
		return say(error, size, -E2BIG, address, "too many addresses");
	if (!strncmp(address, "fd://", 5))
		return take_handed(ret, room, error, size);
	return open_address(address, ret, error, size);
}
