// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests what follows if the keeper of links cannot be started, or cannot take files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/passed_files.h"
#include "open_files.h"
#include "probe/keeper.h"
#include "tap.h"

static int socket_error;
static unsigned int sent, failing; /* messages that were sent; the one that fails */

int socketpair(int domain, int type, int protocol, int ends[2])
{
	if (domain != AF_UNIX || type != (SOCK_SEQPACKET | SOCK_CLOEXEC) || protocol)
		return -1;
	errno = socket_error;
	if (socket_error)
		return -1;
	ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ends[1] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

long syscall(long number, ...)
{
	errno = number == SYS_clone ? EAGAIN : ENOSYS;
	return -1;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	(void)fd, (void)message, (void)flags;
	if (++sent != failing)
		return 1;
	errno = ETOOMANYREFS;
	return -1;
}

static void test_start(void)
{
	unsigned int before = open_fds();

	socket_error = EMFILE;
	is_u64(keeper_start(), (uint64_t)-EMFILE, "no socket is left");
	socket_error = 0;
	is_u64(keeper_start(), (uint64_t)-EAGAIN, "no process is left");
	is_u64(open_fds(), before, "no file stays open");
}

/* Files go in messages of as many files as one message can have. */
static void test_messages(void)
{
	static const struct {
		int files;
		unsigned int messages;
	} rows[] = {{1, 1},
		    {PASSED_FILES_MOST, 1},
		    {PASSED_FILES_MOST + 1, 2},
		    {2 * PASSED_FILES_MOST, 2},
		    {3 * PASSED_FILES_MOST - 1, 3}};
	static int files[3 * PASSED_FILES_MOST];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sent = failing = 0;
		is_u64(keeper_hold(1, files, rows[i].files), 0, "files are sent");
		is_u64(sent, rows[i].messages, "in few messages");
	}
	sent = 0;
	failing = 2;
	is_u64(keeper_hold(1, files, 3 * PASSED_FILES_MOST), (uint64_t)-ETOOMANYREFS,
	       "the second message fails");
	is_u64(sent, 2, "no third one is tried");
}

int main(void)
{
	test_start();
	test_messages();
	return tap_done();
}
