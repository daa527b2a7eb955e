// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/keeper.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/passed_files.h"

/*
 * Runs in the keeper. Closes all files but the socket, so that for example a reader of a pipe does
 * not wait for the keeper. Received files stay open until the exit.
 */
static void keep_until_end(int socket)
{
	union passed_files files;
	char byte;
	struct iovec part = {&byte, sizeof(byte)};
	ssize_t n;

	prctl(PR_SET_NAME, "faultscope-keep");
	if (socket)
		syscall(SYS_close_range, 0, socket - 1, 0);
	syscall(SYS_close_range, socket + 1, ~0U, 0);
	do {
		struct msghdr m = {.msg_iov = &part,
				   .msg_iovlen = 1,
				   .msg_control = files.space,
				   .msg_controllen = sizeof(files.space)};

		n = recvmsg(socket, &m, 0);
	} while (n > 0 || (n < 0 && errno == EINTR));
	_exit(0);
}

int keeper_start(void)
{
	int ends[2], pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, 0); /* without SIGCHLD at its end */
	if (!pid)
		keep_until_end(ends[0]);
	close(ends[0]);
	if (pid > 0)
		return ends[1];
	close(ends[1]);
	return -EAGAIN;
}

int keeper_hold(int keeper, const int *files, int n)
{
	int err = 0;

	for (int at = 0; at < n && !err; at += PASSED_FILES_MOST)
		err = passed_files_send(keeper, "", 1, files + at,
					n - at < PASSED_FILES_MOST ? n - at : PASSED_FILES_MOST, 0);
	return err;
}
