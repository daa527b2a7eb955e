// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/keeper.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_A_MESSAGE 250 /* the kernel passes at most 253 (SCM_MAX_FD in include/net/scm.h) */

/* A message that passes files. */
struct passing {
	char byte;
	struct iovec part;
	union {
		struct cmsghdr head; /* aligns `space` */
		char space[CMSG_SPACE(FILES_A_MESSAGE * sizeof(int))];
	} files;
	struct msghdr message;
};

static struct msghdr *prepare(struct passing *p)
{
	memset(p, 0, sizeof(*p));
	p->part = (struct iovec){&p->byte, sizeof(p->byte)};
	p->message = (struct msghdr){.msg_iov = &p->part,
				     .msg_iovlen = 1,
				     .msg_control = p->files.space,
				     .msg_controllen = sizeof(p->files.space)};
	return &p->message;
}

/*
 * Runs in the keeper. Closes all files but the socket, so that for example a reader of a pipe does
 * not wait for the keeper. Received files stay open until the exit.
 */
static void keep_until_end(int socket)
{
	struct passing p;
	ssize_t n;

	prctl(PR_SET_NAME, "faultscope-keep");
	if (socket)
		syscall(SYS_close_range, 0, socket - 1, 0);
	syscall(SYS_close_range, socket + 1, ~0U, 0);
	do
		n = recvmsg(socket, prepare(&p), 0);
	while (n > 0 || (n < 0 && errno == EINTR));
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

static int pass(int keeper, const int *files, int n)
{
	struct passing p;
	struct msghdr *message = prepare(&p);
	struct cmsghdr *head = CMSG_FIRSTHDR(message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(n * sizeof(*files));
	memcpy(CMSG_DATA(head), files, n * sizeof(*files));
	message->msg_controllen = CMSG_SPACE(n * sizeof(*files));
	return sendmsg(keeper, message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int keeper_hold(int keeper, const int *files, int n)
{
	int err = 0;

	for (int at = 0; at < n && !err; at += FILES_A_MESSAGE)
		err = pass(keeper, files + at, n - at < FILES_A_MESSAGE ? n - at : FILES_A_MESSAGE);
	return err;
}
