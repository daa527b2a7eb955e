// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the process that reads debug information, with the debug information of this program.
 * Without libdw, only tests that the process says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lines/line_helper.h"
#include "tap.h"

extern const char __ehdr_start[]; /* the linker defines it: the start of the program in memory */

enum { MARK_LINE = __LINE__ + 1 };
__attribute__((noinline)) static int mark(int n)
{
	return n * 3 + (int)getpid();
}

static struct line_helper helper;

/* Asks about an address, and waits for the answer. Returns 0 or -errno. */
static int ask(__u32 serial, __u64 address, int fd, struct line_answer *ret)
{
	const struct line_question q = {.serial = serial, .address = address, .has_lines = 1};
	struct pollfd p = {.fd = helper.socket, .events = POLLIN};
	int err = line_helper_ask(&helper, &q, fd);

	if (err)
		return err;
	poll(&p, 1, 20000);
	return line_helper_take(&helper, ret);
}

/* Tests answers of a process that may be hostile. */
static void test_answers(void)
{
	const size_t head = offsetof(struct line_answer, frame), each = sizeof(struct source_frame);
	static const struct {
		__u32 n;
		size_t frames;
		int more; /* bytes that the message is longer than its frames */
		int err;
		const char *name;
	} t[] = {
		{0, 0, 0, 0, "no frame"},
		{0, 0, -1, EPIPE, "a head that is cut"},
		{0, 0, 1, EPIPE, "no frame, and a byte"},
		{1, 1, 0, 0, "a frame"},
		{1, 1, -1, EPIPE, "a frame that is cut"},
		{1, 1, 1, EPIPE, "a frame and a byte"},
		{2, 1, 0, EPIPE, "a frame less than it says"},
		{1, 2, 0, EPIPE, "a frame more than it says"},
		{SOURCE_FRAMES_MAX, SOURCE_FRAMES_MAX, 0, 0, "as many frames as possible"},
		{SOURCE_FRAMES_MAX + 1, SOURCE_FRAMES_MAX + 1, 0, EPIPE, "one more"},
		{UINT32_MAX, SOURCE_FRAMES_MAX, 0, EPIPE, "very many"},
	};
	static char sent[sizeof(struct line_answer) + sizeof(struct source_frame)];
	struct line_helper h = {};
	struct line_answer a;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		abort();
	h.socket = pair[0];
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		size_t last = t[i].n - 1;

		memset(sent, 'x', sizeof(sent));
		memcpy(sent, (__u32[]){0, t[i].n}, 8);
		send(pair[1], sent, head + t[i].frames * each + t[i].more, 0);
		is_u64(-line_helper_take(&h, &a), t[i].err, t[i].name);
		if (t[i].err || !t[i].n)
			continue;
		is_u64(strnlen(a.frame[last].function, SOURCE_TEXT_BYTES), SOURCE_TEXT_BYTES - 1,
		       "the last function's name has an end");
		is_u64(strnlen(a.frame[last].file, SOURCE_TEXT_BYTES), SOURCE_TEXT_BYTES - 1,
		       "and its file");
	}
	close(pair[1]);
	is_u64(-line_helper_take(&h, &a), EPIPE, "the process has ended");
	is_u64(line_helper_cpu_ns(&h), 0, "no process has used no CPU time");
	line_helper_stop(&h);
	is_u64(h.socket, pair[0], "and cannot be stopped");
	h.pid = getpid();
	ok(line_helper_cpu_ns(&h) > 0, "this process has used some");
	h.pid = -1;
	is_u64(line_helper_cpu_ns(&h), 0, "a number that is no process");
	close(pair[0]);
}

#define HELD 64 /* files whose debug information is held */

/* Asks about new files that are no ELF files. */
static void ask_others(int n, int none)
{
	static __u32 serial = 1000;
	struct line_answer a;
	int failed = 0;

	for (int i = 0; i < n; i++)
		failed += ask(serial++, 0, none, &a) != 0 || a.n;
	is_u64(failed, 0, "nothing is known of other files");
}

/*
 * Tests how long a file is held. It is first given as no ELF file, so that its debug information
 * shows that it was opened again.
 */
static void test_held(__u64 address, int self, int none)
{
	struct line_answer a;

	ask(500, address, none, &a);
	ask_others(HELD - 1, none);
	ask(500, address, self, &a);
	is_u64(a.n, 0, "a file is held while 63 others are asked about");
	ask_others(HELD - 1, none);
	ask(500, address, self, &a);
	is_u64(a.n, 0, "it is held longer because it was asked about");
	ask_others(HELD, none);
	ask(500, address, self, &a);
	is_u64(a.n, 1, "after 64 others it is opened again");
}

/* Tests that the frames of an address are kept longer than its file. */
static void test_kept(__u64 address, int self, int none)
{
	static struct line_answer first, a;

	ask(700, address, self, &first);
	is_u64(first.n, 1, "an address");
	ask_others(HELD, none);
	ask(700, address, none, &a);
	ok(a.n == 1 && !memcmp(a.frame, first.frame, sizeof(a.frame[0])),
	   "its frames are kept when its file is not");
	ask(701, address, none, &a);
	is_u64(a.n, 0, "they are not those of another file");
	ask(700, address + 1, none, &a);
	is_u64(a.n, 0, "or of another address");
}

int main(void)
{
	__u64 address = (uintptr_t)mark - (uintptr_t)__ehdr_start;
	int self = open("/proc/self/exe", O_RDONLY), none = open("/dev/null", O_RDONLY);
	struct line_answer a;
	const char *slash;

	is_u64(line_helper_start(false, &helper), 0, "the process starts");
	is_u64(line_helper_take(&helper, &a), -EAGAIN, "no answer without a question");
	is_u64(ask(1, address, self, &a), 0, "it answers");
	if (!a.lacks_libdw) {
		slash = strrchr(a.frame[0].file, '/');
		is_u64(a.n, 1, "one function, since nothing is inlined");
		is_str(slash ? slash + 1 : "", "test_line_helper.c", "its file");
		ok(a.frame[0].line >= MARK_LINE && a.frame[0].line <= MARK_LINE + 2, "its line: %u",
		   a.frame[0].line);
		is_u64(ask(1, 1, self, &a), 0, "it answers about an address without code");
		is_u64(a.n, 0, "that nothing is known");
	}
	is_u64(ask(2, address, none, &a), 0, "it answers about a file that is no ELF file");
	is_u64(a.n, 0, "that nothing is known");
	if (!a.lacks_libdw) {
		test_held(address, self, none);
		test_kept(address, self, none);
	}
	test_answers();
	for (__u32 i = 0; i < 200; i++)
		if (ask(3 + i, address, i % 2 ? self : none, &a) ||
		    a.n != (i % 2 && !a.lacks_libdw))
			ok(false, "file %u", i);
	ok(mark(1) > 0 && !kill(helper.pid, SIGKILL), "the process is killed");
	ok(ask(1, address, self, &a), "then there is an error instead of an answer");
	line_helper_stop(&helper);
	ok(helper.socket == -1 && !helper.pid, "and it is gone");
	close(self);
	close(none);
	return tap_done();
}
