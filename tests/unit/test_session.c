// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests sessions: intervals, durations, ends, errors, urgent records and the scan of holdings. */
#define _GNU_SOURCE
#include <errno.h>

#include "made_session.h"
#include "session/read_holdings.h"

static void test_intervals(void)
{
	struct run r;

	run_make(&r);
	errors_begin();
	run_all(&r);
	errors_are(INCOMPLETE, "no error");
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	is_str(calls, "1ofabfabfabfaec", "callbacks and output of three intervals");
	is_str(TEXT(r.plan.output), "open\nframe\nframe\nframe\nframe\nclose\n",
	       "the whole output");
	is_u64(r.made.starts, 1, "the source is started once");
	is_u64(r.made.looks, 4, "a first scan, and one of each interval");
	is_u64(r.made.closes, 1, "the source is closed");
	ok(r.seconds >= 0.06, "%.3f s for three intervals of 20 ms", r.seconds);
	run_free(&r);
}

static void test_duration(void)
{
	struct run r;

	run_make(&r);
	r.o.count = 0;
	r.plan.duration = 0.25;
	r.plan.interval = 0.1;
	run_quietly(&r);
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	ok(r.seconds >= 0.25, "%.3f s of 0.25 s", r.seconds);
	ok(r.made.looks >= 1 && r.made.looks <= 4, "%u scans", r.made.looks);
	run_free(&r);
}

static void test_end_of_targets(void)
{
	struct run r;

	run_make(&r);
	r.o.count = 0;
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 3;
	run_quietly(&r);
	is_u64(r.status, EXIT_INCOMPLETE, "status");
	is_u64(r.made.looks, 3, "the session ends when the last target has ended");
	run_free(&r);
	run_make(&r);
	r.o.count = 0;
	r.plan.whom = WATCH_TARGETS;
	r.made.ends_at = 1;
	run_quietly(&r);
	is_u64(r.made.looks, 1, "or at once, if none is alive");
	is_str(calls, "1ofaec", "with one frame");
	run_free(&r);
	run_make(&r);
	r.made.ends_at = 1;
	run_quietly(&r);
	is_u64(r.made.looks, 4, "but not if all processes are watched");
	run_free(&r);
}

static void test_errors(void)
{
	struct run r;

	run_make(&r);
	r.made.fails_at = 3;
	r.made.err = -EIO;
	strcpy(r.made.src.error, "the probes fell off");
	errors_begin();
	run_all(&r);
	errors_are("faultscope: the probes fell off\n", "the source says why");
	is_u64(r.status, EXIT_FAILED, "a scan that fails");
	is_str(TEXT(r.plan.output), "open\nframe\nframe\nclose\n", "the output up to it");
	run_free(&r);
	run_make(&r);
	r.made.fails_at = 1;
	r.made.err = -EIO;
	errors_begin();
	run_all(&r);
	errors_are("faultscope: Input/output error\n", "or the errno does");
	is_u64(r.status, EXIT_FAILED, "a first scan that fails");
	ok(!TEXT(r.plan.output), "leaves no output file");
	is_u64(r.made.closes, 1, "and closes the source");
	run_free(&r);
}

static void test_urgent_records(void)
{
	struct run r;

	run_make(&r);
	r.plan.interval = 0.5;
	r.o.count = 1;
	errors_begin();
	if (!session_begin(&r.s, &r.plan) && !pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK)) {
		r.made.src = (struct source){.ops = &made_ops, .live = 1, .plain = 1};
		r.s.in.src = &r.made.src;
		session_open_loop(&r.s);
		open_no_pressure(&r.s.in.pressure);
		session_start(&r.s);
		ok(write(r.made.pipe[1], "!!", 2) == 2, "two records are pending");
		session_loop(&r.s);
	}
	is_u64(session_end(&r.s), EXIT_INCOMPLETE, "status");
	errors_are(INCOMPLETE, "no error");
	is_u64(r.made.drains, 2, "each is read before the next scan");
	is_u64(r.made.looks, 2, "which comes in time");
	run_free(&r);
}

/*
 * Returns whether the holdings of this process are read, if others hold more: bit 0 for mappings,
 * bit 1 for file descriptors.
 */
static int reads_holdings(unsigned int others, unsigned int ended, unsigned int maps)
{
	const struct process_key own = own_key();
	const struct subject *one;
	int found = 0;
	struct run r;

	run_make(&r);
	r.made.others = others;
	r.made.ended = ended;
	r.made.maps = maps;
	errors_begin();
	if (!session_begin(&r.s, &r.plan) && !pipe2(r.made.pipe, O_CLOEXEC | O_NONBLOCK)) {
		r.made.src = (struct source){.ops = &made_ops, .live = 1, .plain = 1};
		r.s.in.src = &r.made.src;
		session_open_loop(&r.s);
		open_no_pressure(&r.s.in.pressure);
		session_start(&r.s);
		holders_read(&r.s);
		one = model_find(&r.s.in.m, &own);
		found = one ? (one->held[WHAT_MAPS].n > 0) | (one->held[WHAT_FDS].n > 0) << 1 : -1;
	}
	session_end(&r.s);
	errors_are(INCOMPLETE, "no error");
	run_free(&r);
	return found;
}

static void test_holders(void)
{
	if (host_is_in_pid_namespace()) {
		ok(true, "# SKIP /proc has the pids of another namespace");
		return;
	}
	is_u64(reads_holdings(0, 0, 1), 3, "the only process");
	is_u64(reads_holdings(15, 0, 1), 3, "the last of 16 processes that hold most");
	is_u64(reads_holdings(16, 0, 1), 0, "not the 17th");
	is_u64(reads_holdings(16, 0, 200), 1, "unless it has more mappings than another");
	is_u64(reads_holdings(16, 1, 1), 3, "processes that have ended do not count");
}

int main(void)
{
	place_begin();
	test_intervals();
	test_duration();
	test_end_of_targets();
	test_errors();
	test_urgent_records();
	test_holders();
	place_end();
	return tap_done();
}
