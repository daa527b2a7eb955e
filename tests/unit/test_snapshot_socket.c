// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the socket by which a user asks for an incident: how long its path, a request and an answer
 * may be, which characters of a request stay, and who ends a conversation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "fixture.h"
#include "incident/snapshot_socket.h"
#include "tap.h"

static struct sockaddr_un at; /* the address of the socket */

/* Makes a directory, and opens its socket. */
static int listen_in(const char *dir)
{
	int fd;

	if (mkdir(fixture_path(dir), 0700) && errno != EEXIST)
		abort();
	fd = snapshot_listen(fixture_path(dir));
	at.sun_family = AF_UNIX;
	snprintf(at.sun_path, sizeof(at.sun_path), "%.60s/" SNAPSHOT_SOCKET, fixture_path(dir));
	return fd;
}

/* Sends a request of `len` bytes, and returns the socket of the client. */
static int send_request(const char *text, size_t len)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    send(fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
		abort();
	return fd;
}

/* The path of the socket has room for 107 bytes and a zero. */
static void test_path_lengths(void)
{
	static const size_t most = sizeof(at.sun_path) - sizeof("/" SNAPSHOT_SOCKET);
	const char *dir = fixture_path("d");
	char path[sizeof(at.sun_path)], answer[SNAPSHOT_ANSWER_BYTES];

	if (mkdir(dir, 0700))
		abort();
	for (size_t len = most - 1; len <= most + 2; len++) {
		int fd;

		memset(path, '/', sizeof(path));
		memcpy(path, dir, strlen(dir));
		path[len] = 0;
		fd = snapshot_listen(path);
		if (len <= most) {
			ok(fd >= 0, "a directory of %zu bytes: %d", len, fd);
			close(fd);
			unlink(fixture_path("d/" SNAPSHOT_SOCKET));
			ok(snapshot_ask(path, "x", answer) == -ENOENT, "nobody listens there");
		} else {
			ok(fd == -ENAMETOOLONG, "a directory of %zu bytes: %d", len, fd);
			ok(snapshot_ask(path, "x", answer) == -ENAMETOOLONG, "also to ask");
		}
	}
}

static void test_requests(void)
{
	static const struct {
		const char *sent, *read;
	} rows[] = {
		{"plain", "plain"},
		{"a\x1f"
		 "b",
		 "a b"},
		{"a b", "a b"},
		{"a!~b", "a!~b"},
		{"a\x7f"
		 "b",
		 "a b"},
		{"\n\t\r", "   "},
		{"a\x80\xc3\xa9\xff"
		 "b",
		 "a\x80\xc3\xa9\xff"
		 "b"},
	};
	char reason[SNAPSHOT_REASON_BYTES], text[256], got[64];
	int fd = listen_in("requests"), client, here;
	ssize_t n;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		client = send_request(rows[i].sent, strlen(rows[i].sent));
		here = snapshot_accept(fd, reason);
		ok(here >= 0 && fcntl(here, F_GETFD) & FD_CLOEXEC, "request %zu", i);
		is_str(reason, rows[i].read, "its text, on one line");
		snapshot_answer(here, "+done");
		n = recv(client, got, sizeof(got) - 1, 0);
		got[n > 0 ? n : 0] = 0;
		is_str(got, "+done", "its answer");
		is_u64(recv(client, got, sizeof(got), 0), 0, "and the end");
		close(client);
	}
	memset(text, 'x', sizeof(text));
	for (size_t len = SNAPSHOT_REASON_BYTES - 2; len <= SNAPSHOT_REASON_BYTES + 1; len++) {
		size_t want = len < SNAPSHOT_REASON_BYTES ? len : SNAPSHOT_REASON_BYTES - 1;

		client = send_request(text, len);
		here = snapshot_accept(fd, reason);
		ok(here >= 0 && strlen(reason) == want, "a request of %zu bytes has %zu", len,
		   strlen(reason));
		close(client);
		snapshot_answer(here, "+done"); /* to nobody, without a signal */
	}
	client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connect(client, (struct sockaddr *)&at, sizeof(at)))
		abort();
	close(client);
	here = snapshot_accept(fd, reason);
	ok(here >= 0 && !*reason, "a client that leaves asks without a reason");
	close(here);
	ok(snapshot_accept(fd, reason) == -EAGAIN, "no other request");
	close(fd);
}

/* Answers one request in a child process: with `len` bytes of text, or with nothing. */
static pid_t answer_with(int fd, size_t len)
{
	char reason[SNAPSHOT_REASON_BYTES], text[2 * SNAPSHOT_ANSWER_BYTES] = "";
	pid_t pid = fork();
	int client;

	if (pid)
		return pid;
	alarm(20);
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK))
		_exit(1);
	client = snapshot_accept(fd, reason);
	memset(text, 'y', len);
	if (client < 0)
		_exit(2);
	if (len)
		snapshot_answer(client, text);
	_exit(strlen(reason));
}

static void test_answers(void)
{
	static const struct {
		size_t request, answer, read;
		int err;
	} rows[] = {
		{1, 1, 1, 0},
		{SNAPSHOT_REASON_BYTES - 1, SNAPSHOT_ANSWER_BYTES - 1, SNAPSHOT_ANSWER_BYTES - 1,
		 0},
		{SNAPSHOT_REASON_BYTES, SNAPSHOT_ANSWER_BYTES, SNAPSHOT_ANSWER_BYTES - 1, 0},
		{200, SNAPSHOT_ANSWER_BYTES + 1, SNAPSHOT_ANSWER_BYTES - 1, 0},
		{5, 0, 0, -ECONNRESET},
	};
	int fd = listen_in("answers"), status;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t most = SNAPSHOT_REASON_BYTES - 1, len = rows[i].request;
		char answer[SNAPSHOT_ANSWER_BYTES], reason[256] = "";
		pid_t pid = answer_with(fd, rows[i].answer);

		memset(reason, 'x', len);
		memset(answer, 'z', sizeof(answer));
		ok(snapshot_ask(fixture_path("answers"), reason, answer) == rows[i].err,
		   "a request of %zu bytes", len);
		ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
			   WEXITSTATUS(status) == (int)(len < most ? len : most),
		   "which arrives, at most 159 bytes");
		is_u64(strnlen(answer, sizeof(answer)), rows[i].read, "an answer");
		ok(strspn(answer, "y") == rows[i].read, "of the other side");
	}
	close(fd);
}

static void test_socket_file(void)
{
	mode_t mask = umask(0022);
	int fd = listen_in("file"), dir;
	struct stat st;

	ok(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC && fcntl(fd, F_GETFL) & O_NONBLOCK,
	   "a socket that waits for nobody");
	ok(!stat(at.sun_path, &st) && (st.st_mode & 0777) == 0600, "for its owner");
	is_u64(umask(mask), 0022, "the mask for new files is as before");
	ok(snapshot_listen(fixture_path("file")) == -EADDRINUSE, "it is in use");
	dir = open(fixture_path("file"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snapshot_unlink(dir);
	close(dir);
	ok(stat(at.sun_path, &st) && errno == ENOENT, "it is removed");
	close(fd);
	fd = listen_in("file");
	close(fd);
	ok(!stat(at.sun_path, &st), "one that was left");
	fd = listen_in("file");
	ok(fd >= 0, "is replaced");
	close(fd);
	ok(snapshot_listen(fixture_path("absent")) == -ENOENT, "there is no directory");
}

int main(void)
{
	test_path_lengths();
	test_requests();
	test_answers();
	test_socket_file();
	return tap_done();
}
