/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases of three kinds of fd numbers: numbers that the caller chooses, numbers above the
 * limit, and numbers for files that are passed in messages.
 */
#include "zoo.h"

#include <sys/socket.h>

#define SMALL_LIMIT 64
#define MOST_PASSED 8

/* Test cases of fd numbers that the caller chooses */

static void dup2_past(void)
{
	long past = SMALL_LIMIT + vary(0, 1000);

	ASK(dup2, STDOUT_FILENO, past);
	soft_limit(RLIMIT_NOFILE, SMALL_LIMIT);
}

static void dup3_past(void)
{
	ASK(dup3, STDOUT_FILENO, SMALL_LIMIT, O_CLOEXEC);
	soft_limit(RLIMIT_NOFILE, SMALL_LIMIT);
}

static void dupfd_past(void)
{
	ASK(fcntl, STDOUT_FILENO, F_DUPFD, SMALL_LIMIT + vary(0, 1000));
	soft_limit(RLIMIT_NOFILE, SMALL_LIMIT);
}

static void dupfd_cloexec_past(void)
{
	ASK(fcntl, STDOUT_FILENO, F_DUPFD_CLOEXEC, SMALL_LIMIT);
	soft_limit(RLIMIT_NOFILE, SMALL_LIMIT);
}

static void take_numbers(int from, int to)
{
	for (int fd = from; fd < to; fd++)
		if (fcntl(fd, F_GETFD) < 0 && dup2(STDOUT_FILENO, fd) != fd)
			die("dup2 to %d", fd);
}

/* fcntl needs a free number at or above the requested one. Only lower numbers are free. */
static void dupfd_full_above(void)
{
	int from = SMALL_LIMIT - vary(1, 8);

	take_numbers(from, SMALL_LIMIT);
	ASK(fcntl, STDOUT_FILENO, F_DUPFD, from);
	soft_limit(RLIMIT_NOFILE, SMALL_LIMIT);
}

/* RLIMIT_NOFILE was lowered after some files were opened, so their numbers are above the limit. */
static void above_lowered_limit(void)
{
	take_numbers(500, 500 + vary(1, 50));
	ASK(openat, AT_FDCWD, P("/dev/null"), O_RDONLY);
	leave_free(0);
}

/* All numbers below RLIMIT_NOFILE are in use, although fewer files are open. */
static void few_but_full(void)
{
	take_numbers(0, 8);
	ASK(socket, AF_UNIX, SOCK_DGRAM, 0);
	soft_limit(RLIMIT_NOFILE, 8);
}

/* pipe needs two fd numbers. Only one is free, in the middle of the range. */
static void one_in_the_middle(void)
{
	static int pair[2];

	take_numbers(0, SMALL_LIMIT);
	take_numbers(200, 220);
	close(SMALL_LIMIT - vary(2, 40));
	ASK(pipe2, P(pair), O_CLOEXEC);
	soft_limit(RLIMIT_NOFILE, SMALL_LIMIT);
}

/* Test cases of files that are passed in messages */

static int ends[2];
static int passed; /* number of files in each message */

static void pass(int count)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MOST_PASSED * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec text = { "x", 1 };
	struct msghdr message = {
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};

	control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
	for (int i = 0; i < count; i++)
		((int *)CMSG_DATA(&control.head))[i] = STDOUT_FILENO;
	if (sendmsg(ends[0], &message, 0) != 1)
		die("sendmsg");
}

/*
 * Sends files in two messages. The process cannot receive the files of the first message, but it
 * can receive those of the second.
 */
static void pass_twice(int count, int free)
{
	passed = count;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends))
		die("socketpair");
	pass(count);
	pass(count);
	leave_free(free);
}

static long take(bool many)
{
	char text[8];
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MOST_PASSED * sizeof(int))];
	} control;
	struct iovec place = { text, sizeof(text) };
	struct mmsghdr message = {
		.msg_hdr = {
			.msg_iov = &place,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		},
	};
	long got = many ? recvmmsg(ends[1], &message, 1, MSG_DONTWAIT, NULL) :
			  recvmsg(ends[1], &message.msg_hdr, MSG_CMSG_CLOEXEC);

	if (got != 1)
		die("recvmsg");
	errno = 0;
	if (message.msg_hdr.msg_flags & MSG_CTRUNC)
		return -1;
	return control.head.cmsg_len == CMSG_LEN(passed * sizeof(int)) ? 0 : -1;
}

static long take_one(void)
{
	return take(false);
}

static long take_many(void)
{
	return take(true);
}

static void pass_to_full(void)
{
	pass_twice(vary(1, MOST_PASSED), 0);
}

static void pass_more_than_fit(void)
{
	pass_twice(3, 1);
}

#define NUMBER(call, error) { call, error, "descriptor_number_limit" }
#define DROPPED(call) { call, 0, "descriptors_dropped" }

const struct zoo_case number_cases[] = {
	{ "number-dup2", NUMBER("dup2", EBADF), dup2_past, NULL, restore_nofile },
	{ "number-dup3", NUMBER("dup3", EBADF), dup3_past, NULL, restore_nofile },
	{ "number-dupfd", NUMBER("fcntl", EINVAL), dupfd_past, NULL, restore_nofile },
	{ "number-dupfd-cloexec", NUMBER("fcntl", EINVAL), dupfd_cloexec_past, NULL,
	  restore_nofile },
	{ "nofile-dupfd-full-above", { "fcntl", EMFILE, "rlimit_nofile" }, dupfd_full_above, NULL,
	  restore_nofile },
	{ "nofile-above-lowered", { "openat", EMFILE, "rlimit_nofile" }, above_lowered_limit, NULL,
	  restore_nofile },
	{ "nofile-few-but-full", { "socket", EMFILE, "rlimit_nofile" }, few_but_full, NULL,
	  restore_nofile },
	{ "nofile-one-in-the-middle", { "pipe2", EMFILE, "rlimit_nofile" }, one_in_the_middle,
	  NULL, restore_nofile },
	{ "dropped-recvmsg", DROPPED("recvmsg"), pass_to_full, take_one, restore_nofile },
	{ "dropped-recvmsg-some", DROPPED("recvmsg"), pass_more_than_fit, take_one,
	  restore_nofile },
	{ "dropped-recvmmsg", DROPPED("recvmmsg"), pass_to_full, take_many, restore_nofile },
	{ 0 },
};
