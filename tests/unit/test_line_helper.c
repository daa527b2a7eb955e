// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the process that reads debug information, with the debug information of this program.
 * Without libdw, only tests that the process says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
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
