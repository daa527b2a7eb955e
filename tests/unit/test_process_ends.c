// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how processes are found that ended without a last record. kill() is replaced: the test says
 * which pids exist.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "collect/process_ends.h"
#include "fixture.h"
#include "probe/host_facts.h"
#include "probe/live_load.h"
#include "tap.h"

#define THERE	  10 /* a process of the caller */
#define FORBIDDEN 11 /* a process of another user */
#define GONE	  12

static struct model m;
static struct collector c;
static const struct sink sink = {.take = collector_take, .ctx = &c};
static struct live live;
static struct fs_shared shared;
static int signals; /* number of signals that were really sent */
static int drains, drain_error;
static const struct record *pending; /* what the source still has to send; NULL: nothing */

int kill(pid_t pid, int signal)
{
	signals += signal != 0;
	errno = pid == FORBIDDEN ? EPERM : ESRCH;
	return pid == THERE ? 0 : -1;
}

static int drain(struct source *src, const struct sink *sink)
{
	drains++;
	if (!ok(src == &live.src, "the source itself is asked") || drain_error)
		return drain_error;
	return pending ? sink->take(sink->ctx, pending) : 0;
}

static const struct source_ops ops = {.drain = drain};

static void begin(const char *blind)
{
	begin_model(&m, blind);
	c = (struct collector){.m = &m};
	live.src.ops = &ops;
	live.obj.shared = &shared;
	shared.scan_whole = false;
	drains = drain_error = signals = 0;
	pending = NULL;
}

static void end(void)
{
	collector_free(&c);
	model_free(&m);
}

/* A tick record with these counts of lost records. */
static void lose(uint64_t ring, uint64_t map, uint64_t missed)
{
	struct tick_record tick = tick_record(3 * SECOND);

	tick.losses.ring = ring;
	tick.losses.map = map;
	tick.losses.missed = missed;
	tick.losses.slot = tick.losses.stack = tick.losses.growth = 77;
	model_take(&m, &tick.h);
}

static struct subject *process(uint32_t pid, uint64_t t_ns)
{
	struct process_record r = process_record(pid, 1, t_ns);

	r.g.min_flt = 5 * pid;
	model_take(&m, &r.h);
	return model_find(&m, &r.subject);
}

static void test_own_pids(void)
{
	struct ends e = {};

	begin(NULL);
	ends_begin(&e, &m, &live.src);
	ok(!e.whole && !shared.scan_whole, "pids of our own namespace need no whole scan");
	ok(!ends_may_be_lost(&e, &m, &m.tick.losses), "nothing is lost");
	lose(2, 0, 0);
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "the ring buffer was full");
	ok(!ends_may_be_lost(&e, &m, &m.tick.losses), "each loss counts once");
	lose(2, 3, 0);
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "a table was full");
	lose(2, 3, 4);
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "the kernel skipped a program");
	is_u64(e.losses, 9, "the sum of the losses is kept");
	ok(!ends_may_be_lost(&e, &m, &m.tick.losses), "other losses concern no end of a process");
	end();
	begin("lifecycle");
	e = (struct ends){};
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "without the probe of ends each end is lost");
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "at each scan");
	end();
}

static void test_foreign_pids(void)
{
	struct ends e = {.foreign = true};
	uint64_t before_ns = host_monotonic_ns();

	begin(NULL);
	ends_begin(&e, &m, &live.src);
	ok(e.begin_ns >= before_ns && e.begin_ns <= host_monotonic_ns(), "when the scan began");
	ok(!e.whole && !shared.scan_whole, "nothing was lost: only what changed is sent");
	ok(!ends_may_be_lost(&e, &m, &m.tick.losses), "so no process is missed");
	lose(1, 0, 0);
	ok(!ends_may_be_lost(&e, &m, &m.tick.losses), "a loss in this scan waits for a whole scan");
	is_u64(e.losses, 0, "and is not forgotten");
	ends_begin(&e, &m, &live.src);
	ok(e.whole && shared.scan_whole, "the next scan sends all processes");
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "and shows which are gone");
	is_u64(e.losses, 1, "the loss is dealt with");
	ends_begin(&e, &m, &live.src);
	ok(!e.whole && !shared.scan_whole, "later scans send what changed again");
	lose(2, 0, 0);
	ends_begin(&e, &m, &live.src);
	lose(2, 1, 0);
	ok(!ends_may_be_lost(&e, &m, &m.tick.losses),
	   "a whole scan that lost a record shows nothing");
	is_u64(e.losses, 1, "the search is repeated");
	end();
	begin("lifecycle");
	e = (struct ends){.foreign = true};
	ends_begin(&e, &m, &live.src);
	ok(e.whole && shared.scan_whole, "without the probe of ends each scan is a whole one");
	ok(ends_may_be_lost(&e, &m, &m.tick.losses), "each shows which are gone");
	end();
}

static void test_gone(void)
{
	struct ends own = {}, foreign = {.foreign = true, .whole = true, .begin_ns = 100};

	begin(NULL);
	ok(!ends_is_gone(&own, THERE, 5), "a process that can be sent a signal");
	ok(!ends_is_gone(&own, FORBIDDEN, 5), "one that may not be");
	ok(ends_is_gone(&own, GONE, 5), "one that is gone");
	ok(!ends_is_gone(&own, 0, 5), "pid 0 is no process");
	ok(ends_is_gone(&foreign, THERE, 99), "not sent since the scan began: it is gone");
	ok(!ends_is_gone(&foreign, GONE, 100), "sent when it began: it is there");
	ok(!ends_is_gone(&foreign, GONE, 101), "sent later: it is there");
	foreign.whole = false;
	ok(!ends_is_gone(&foreign, GONE, 99), "without a whole scan nobody is known to be gone");
	is_u64(signals, 0, "no process gets a signal");
	end();
}

static void test_find(void)
{
	struct ends e = {};
	struct subject *gone, *there, *forbidden;

	begin(NULL);
	there = process(THERE, 2 * SECOND);
	forbidden = process(FORBIDDEN, 2 * SECOND);
	gone = process(GONE, 2 * SECOND);
	is_u64(ends_find(&e, &c, &live.src, &sink), 0,
	       "processes that changed in this scan are alive");
	is_u64(drains, 0, "pending records are not needed");
	model_next_window(&m);
	is_u64(ends_find(&e, &c, &live.src, &sink), 1, "later, one is gone");
	ok(gone->final && !there->final && !forbidden->final, "the one whose pid is free");
	is_u64(gone->now.g.min_flt, 5 * GONE, "its last values are kept");
	is_u64(drains, 1, "pending records were sent before");
	model_next_window(&m);
	is_u64(ends_find(&e, &c, &live.src, &sink), 0, "it ends once");
	is_u64(drains, 1, "pending records are not needed again");
	end();
}

static void test_pending(void)
{
	struct process_record last = process_record(GONE, 1, 2 * SECOND);
	struct ends e = {};
	struct subject *gone, *second;

	begin(NULL);
	gone = process(GONE, 2 * SECOND);
	model_next_window(&m);
	last.g.flags = PROC_FINAL;
	last.g.min_flt = 1234;
	pending = &last.h;
	is_u64(ends_find(&e, &c, &live.src, &sink), 0, "the last record was only late");
	ok(gone->final && gone->now.g.min_flt == 1234, "its values are the last ones");
	end();

	begin(NULL);
	gone = process(GONE, 2 * SECOND);
	second = process(GONE + 1, 2 * SECOND);
	model_next_window(&m);
	is_u64(ends_find(&e, &c, &live.src, &sink), 2, "two are gone");
	ok(gone->final && second->final, "both have ended");
	is_u64(drains, 1, "pending records are sent once");
	end();

	begin(NULL);
	gone = process(GONE, 2 * SECOND);
	model_next_window(&m);
	drain_error = -EIO;
	ok(ends_find(&e, &c, &live.src, &sink) == -EIO, "an error of the source is passed on");
	ok(!gone->final, "and nobody is ended");
	end();
}

int main(void)
{
	test_own_pids();
	test_foreign_pids();
	test_gone();
	test_find();
	test_pending();
	return tap_done();
}
