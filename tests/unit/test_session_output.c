// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the recording and the output of a session, also those that fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/error_text.h"
#include "made_session.h"
#include "probe/recording.h"

/* Counts records of a kind in a recording; -1: it is no recording. */
struct counted {
	unsigned int kind;
	int n;
};

static int count_record(void *ctx, const struct record *h)
{
	struct counted *c = ctx;

	c->n += h->kind == c->kind;
	return 0;
}

static int records_of(const char *path, unsigned int kind)
{
	struct counted c = {.kind = kind};
	const struct sink sink = {.take = count_record, .ctx = &c};
	struct source *src;
	char error[512];
	int err;

	if (replay_open(path, &src, error, sizeof(error)))
		return -1;
	err = src->ops->start(src, &sink);
	while (!err)
		err = src->ops->look(src, &sink);
	src->ops->close(src);
	return c.n;
}

static void test_recording(void)
{
	char path[128];
	struct run r;

	below("recording.fsr", path, sizeof(path));
	run_make(&r);
	r.plan.record = path;
	run_quietly(&r);
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	is_u64(records_of(path, RECORD_TICK), 4, "a recording has each scan");
	is_u64(records_of(path, RECORD_HOST), 1, "and the host");
	is_u64(records_of(path, RECORD_PROCESS), 4, "and the process");
	is_u64(records_of(path, RECORD_END), 1, "and its end");
	run_free(&r);
	run_make(&r);
	r.plan.record = path;
	errors_begin();
	run_all(&r);
	is_u64(r.status, EXIT_FAILED, "an existing recording is kept");
	ok(strstr(errors_end(), "exists") != NULL, "and named");
	is_u64(r.made.looks, 0, "nothing was scanned");
	run_free(&r);
	run_make(&r);
	r.plan.record = path;
	r.o.force = true;
	r.o.count = 1;
	run_quietly(&r);
	is_u64(records_of(path, RECORD_TICK), 2, "--force overwrites it");
	run_free(&r);
	unlink(path);
	run_make(&r);
	r.plan.record = path;
	r.made.fails_at = 1;
	r.made.err = -EIO;
	errors_begin();
	run_all(&r);
	errors_are("faultscope: Input/output error\n", "a first scan that fails");
	ok(access(path, F_OK), "leaves no recording");
	run_free(&r);
}

static void test_outputs_that_fail(void)
{
	char path[128], want[512];
	struct run r;

	run_make(&r);
	free((char *)r.plan.output);
	r.plan.output = strdup(below("none/out", path, sizeof(path)));
	errors_begin();
	run_all(&r);
	snprintf(want, sizeof(want), "faultscope: cannot write %s: No such file or directory\n",
		 path);
	errors_are(want, "a directory that is missing");
	is_u64(r.status, EXIT_FAILED, "status");
	is_u64(r.made.looks, 0, "nothing was scanned");
	run_free(&r);
	run_make(&r);
	r.o.junit = below("none/junit", path, sizeof(path));
	errors_begin();
	run_all(&r);
	snprintf(want, sizeof(want), "faultscope: cannot write %s: No such file or directory\n",
		 path);
	errors_are(want, "a JUnit file that cannot be made");
	is_u64(r.status, EXIT_FAILED, "status");
	ok(!TEXT(r.plan.output), "no output file");
	run_free(&r);
	run_make(&r);
	free((char *)r.plan.output);
	r.plan.output = strdup("/dev/full");
	errors_begin();
	run_all(&r);
	errors_are("faultscope: cannot write /dev/full: No space left on device\n",
		   "a disk that is full");
	is_u64(r.status, EXIT_FAILED, "status");
	is_u64(r.made.looks, 1, "ends the session");
	run_free(&r);
}

/* Writes to a pipe whose reader has gone. Returns the number of scans. */
static unsigned int scans_without_reader(const char *record, int *ret_status)
{
	struct run r;
	char path[64];
	int ends[2];

	if (pipe(ends))
		abort();
	close(ends[0]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	run_make(&r);
	free((char *)r.plan.output);
	r.plan.output = strdup(path);
	r.plan.record = record;
	errors_begin();
	run_all(&r);
	errors_are(INCOMPLETE, "a reader that has gone is no error");
	close(ends[1]);
	*ret_status = r.status;
	run_free(&r);
	return r.made.looks;
}

static void test_reader_that_has_gone(void)
{
	char path[128];
	int status;

	signal(SIGPIPE, SIG_IGN);
	is_u64(scans_without_reader(NULL, &status), 1, "it ends the session");
	is_u64(status, EXIT_INCOMPLETE, "status");
	is_u64(scans_without_reader(below("alone.fsr", path, sizeof(path)), &status), 4,
	       "unless a recording is made");
	is_u64(status, EXIT_INCOMPLETE, "status");
	is_u64(records_of(path, RECORD_TICK), 4, "which is complete");
	unlink(path);
	signal(SIGPIPE, SIG_DFL);
}

static void test_no_memory_for_output(void)
{
	char want[512];
	struct session s = {.out.fd = -1, .out.file = OUTPUT_NONE};

	s.plan.renderer = &noting;
	s.out.text.failed = true;
	errors_begin();
	session_flush(&s);
	s.out.text.failed = true;
	session_flush(&s);
	snprintf(want, sizeof(want),
		 "faultscope: not enough memory for the output of an interval, which is missing: "
		 "%s\n",
		 as_error(-ENOMEM).s);
	errors_are(want, "it is said once, with the limit to raise");
	is_u64(s.status, EXIT_FAILED, "status");
	ok(s.out.incomplete && s.out.flushed && !s.loop.done, "the session goes on");
	buf_free(&s.out.text);
}

int main(void)
{
	signal(SIGPIPE, SIG_DFL); /* a program that starts this test may ignore it */
	place_begin();
	test_recording();
	test_outputs_that_fail();
	test_reader_that_has_gone();
	test_no_memory_for_output();
	place_end();
	return tap_done();
}
