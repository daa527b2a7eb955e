// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "incident/snapshot_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <fcntl.h>

#define PATIENCE_MS	  500 /* how long a client may take to send its request */
#define ASKING_PATIENCE_S 30

static int address_of(const char *dir, struct sockaddr_un *ret)
{
	int n;

	memset(ret, 0, sizeof(*ret));
	ret->sun_family = AF_UNIX;
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/" SNAPSHOT_SOCKET, dir);
	return n < 0 || (size_t)n >= sizeof(ret->sun_path) ? -ENAMETOOLONG : 0;
}

static int connect_to(const struct sockaddr_un *to)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	if (!connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Binds the socket. A socket that a killed faultscope has left is replaced. */
static int bind_to(int fd, const struct sockaddr_un *to)
{
	mode_t mask = umask(0177);
	int err = bind(fd, (const struct sockaddr *)to, sizeof(*to)) ? -errno : 0, other;

	if (err == -EADDRINUSE) {
		other = connect_to(to);
		if (other >= 0)
			close(other);
		else if (other == -ECONNREFUSED && !unlinkat(AT_FDCWD, to->sun_path, 0))
			err = bind(fd, (const struct sockaddr *)to, sizeof(*to)) ? -errno : 0;
	}
	umask(mask);
	return err;
}

int snapshot_listen(const char *dir)
{
	struct sockaddr_un to;
	int err = address_of(dir, &to), fd;

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = bind_to(fd, &to);
	if (!err && listen(fd, 8))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

void snapshot_unlink(int dir)
{
	unlinkat(dir, SNAPSHOT_SOCKET, 0);
}

static bool may_ask(int client)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (!peer.uid || peer.uid == geteuid());
}

int snapshot_accept(int fd, char reason[SNAPSHOT_REASON_BYTES])
{
	const struct timeval patience = {.tv_usec = PATIENCE_MS * 1000};
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	ssize_t n;

	if (client < 0)
		return -errno;
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	n = may_ask(client) ? recv(client, reason, SNAPSHOT_REASON_BYTES - 1, 0) : -1;
	if (n < 0) {
		close(client);
		return -EACCES;
	}
	reason[n] = 0;
	/* the reason becomes the title of the incident, which is one line */
	for (char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	return client;
}

void snapshot_answer(int client, const char *text)
{
	send(client, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	close(client);
}

int snapshot_ask(const char *dir, const char *reason, char answer[SNAPSHOT_ANSWER_BYTES])
{
	const struct timeval patience = {.tv_sec = ASKING_PATIENCE_S};
	struct sockaddr_un to;
	int err = address_of(dir, &to), fd;
	ssize_t n;

	if (err)
		return err;
	fd = connect_to(&to);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	n = send(fd, reason, strnlen(reason, SNAPSHOT_REASON_BYTES - 1), MSG_NOSIGNAL);
	if (n >= 0)
		n = recv(fd, answer, SNAPSHOT_ANSWER_BYTES - 1, 0);
	err = n < 0 ? -errno : !n ? -ECONNRESET : 0;
	answer[n > 0 ? n : 0] = 0;
	close(fd);
	return err;
}
