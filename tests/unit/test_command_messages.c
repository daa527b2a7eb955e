// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests how commands write their output, what they say if that fails, and their exit statuses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/messages.h"
#include "error_output.h"
#include "fixture.h"
#include "render/completeness.h"

static void test_complain(void)
{
	errors_begin();
	complain("%s of %d", "one", 2);
	errors_are("faultscope: one of 2\n", "a message");
}

static void test_file(void)
{
	const char *path = fixture_path("out");
	struct options o = {.output = path};
	struct buf b = {};
	char text[16];

	buf_puts(&b, "text\n");
	errors_begin();
	is_u64(say_all(&o, &b), 0, "an output file");
	errors_are("", "no message");
	io_read(AT_FDCWD, path, text, sizeof(text));
	is_str(text, "text\n", "has the text");
	o.output = "/dev/full";
	errors_begin();
	is_u64(say_all(&o, &b), EXIT_FAILED, "a full device");
	errors_are("faultscope: cannot write /dev/full: No space left on device\n", "is named");
	o.output = path;
	b.failed = true;
	errors_begin();
	is_u64(say_all(&o, &b), EXIT_FAILED, "a text that is not complete");
	ok(strstr(errors_end(), ": too much text\n"), "is said to be too much");
	o.output = NULL;
	errors_begin();
	is_u64(say_all(&o, &b), EXIT_FAILED, "without a file");
	errors_are("faultscope: cannot write the output: too much text\n", "the output is named");
	buf_free(&b);
}

/* A reader such as head(1) may close its pipe early. */
static void test_pipe(void)
{
	struct options o = {};
	struct buf b = {};
	char path[32];
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	if (pipe(fds))
		abort();
	snprintf(path, sizeof(path), "/dev/fd/%d", fds[1]);
	o.output = path;
	buf_puts(&b, "text\n");
	is_u64(say_all(&o, &b), 0, "a pipe");
	close(fds[0]);
	errors_begin();
	is_u64(say_all(&o, &b), 0, "a pipe that was closed is no failure");
	errors_are("", "of which nothing is said");
	close(fds[1]);
	buf_free(&b);
}

static void test_gaps(void)
{
	struct buf none = {}, gaps = {};

	gap_add(&gaps, "events were lost");
	gap_add(&gaps, "%d probes were off", 2);
	errors_begin();
	is_u64(status_of_gaps(EXIT_DONE, &none), EXIT_DONE, "nothing is missing");
	is_u64(status_of_gaps(EXIT_GATE, &gaps), EXIT_GATE, "another status counts more");
	errors_are("", "and no more is said");
	errors_begin();
	is_u64(status_of_gaps(EXIT_DONE, &gaps), EXIT_INCOMPLETE, "something is missing");
	errors_are("faultscope: incomplete: events were lost; 2 probes were off\n",
		   "which is said");
	errors_begin();
	is_u64(fail_of_gaps(&gaps), EXIT_FAILED, "a command that can do nothing");
	errors_are("faultscope: events were lost; 2 probes were off\n", "says why");
	buf_free(&gaps);
}

int main(void)
{
	test_complain();
	test_file();
	test_pipe();
	test_gaps();
	return tap_done();
}
