// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what a session asks of a live source, which processes it takes to have ended, and where it
 * looks for the origin of a limit. No BPF program is loaded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "model/resources.h"
#include "probe/live.h"
#include "session/limit_origins.h"
#include "session/session.h"
#include "tap.h"

#define NONE UINT32_MAX

static const char *const unused[] = {"calls", "mmap_lock", NULL};

/* What a plan and options ask for, and what the source gets. */
struct wish {
	const char *name;
	struct run_plan plan;
	bool tiers_given;
	const char *forced; /* attach type of the probe `calls` */
	struct {
		bool watch_all, filtered, attribute, defers;
		unsigned int tiers, maps, fds, accepts;
		const char *calls; /* attach type of the probe `calls` */
	} want;
};

#define WRITES (LACKS_WRITES | LACKS_COMPAT)
static const struct wish wishes[] = {
	{"all processes", {.tiers = 3}, .want = {true, true, false, false, 3, 1024, 64, 0}},
	{"all, by --overhead",
	 {.tiers = 3, .unused = unused},
	 .tiers_given = true,
	 .want = {true, true, false, false, 8, 1024, 64, ACCEPTS_ON_REQUEST}},
	{"all, without some probes",
	 {.tiers = 3, .unused = unused, .prompt = true},
	 .want = {true, true, false, true, 3, 1024, 64, 0, HOOK_UNNEEDED}},
	{"all, a probe that is asked for",
	 {.tiers = 3, .unused = unused, .prompt = true},
	 .forced = "raw_tp",
	 .want = {true, true, false, false, 3, 1024, 64, 0, "raw_tp"}},
	{"all, growth by stack",
	 {.tiers = 3, .attributes = true, .prompt = true},
	 .want = {true, true, true, true, 3, 1024, 64, 0}},
	{"all, growth from the first mapping on",
	 {.attributes = true, .attributes_all = true},
	 .want = {true, true, true, false, 0, 0, 0, 0}},
	{"all, stacks of resident memory",
	 {.attributes = true,
	  .attributes_all = true,
	  .attributes_pages = true,
	  .resident_each = 64},
	 .want = {true, true, true, false, 0x1b, NONE, NONE, 0}},
	{"targets",
	 {.whom = WATCH_TARGETS, .tiers = 15},
	 .want = {false, false, true, false, 15, 1024, 64, WRITES}},
	{"targets and children, by --overhead",
	 {.whom = WATCH_TARGETS, .tiers = 15, .children = true},
	 .tiers_given = true,
	 .want = {false, true, true, false, 8, 1024, 64, ACCEPTS_ON_REQUEST}},
	{"targets, by --overhead",
	 {.whom = WATCH_TARGETS, .tiers = 15},
	 .tiers_given = true,
	 .want = {false, false, true, false, 8, 1024, 64, WRITES | ACCEPTS_ON_REQUEST}},
	{"a command",
	 {.whom = WATCH_COMMAND, .tiers = 7, .children = true},
	 .want = {false, true, true, false, 7, 1024, 64, 0}},
	{"doctor",
	 {.tiers = 15, .examines = true},
	 .want = {true, true, false, false, 15, 1024, 64, LACKS_WRITES | ACCEPTS_ON_REQUEST}},
};

static void test_options(void)
{
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		const struct wish *a = &wishes[i];
		struct options o = {.tiers = 8, .tiers_given = a->tiers_given, .btf = "btf"};
		struct live_options lo;
		struct session s = {};
		const char *calls;

		o.forced[hook_find("calls")] = a->forced;
		o.filter.pid[0] = getpid();
		o.filter.pids = a->plan.whom == WATCH_TARGETS;
		s.o = &o;
		s.plan = a->plan;
		lo = session_live_options(&s);
		calls = lo.forced[hook_find("calls")];
		ok(lo.watch_all == a->want.watch_all && lo.filtered == a->want.filtered &&
			   lo.attribute == a->want.attribute && lo.defers == a->want.defers,
		   "%s: all %d, filtered %d, growth %d, deferred %d", a->name, lo.watch_all,
		   lo.filtered, lo.attribute, lo.defers);
		is_u64(lo.tiers, a->want.tiers, "overhead levels");
		is_u64(lo.attribute_maps, a->want.maps, "mappings from which growth is kept");
		is_u64(lo.attribute_fds, a->want.fds, "fds from which growth is kept");
		is_u64(lo.accepts, a->want.accepts, "what attach types may lack");
		is_str(calls, a->want.calls, "attach type of calls");
		is_str(lo.forced[hook_find("scan")], NULL, "attach type of another probe");
		ok(lo.examines == a->plan.examines && !lo.majors && !strcmp(lo.btf_path, "btf"),
		   "settings that are passed on");
		ok(lo.has_ended && lo.ended_ctx == &s.in.m && lo.code_ctx == &s.in &&
			   lo.code_changed && lo.stack_copied,
		   "callbacks");
	}
}

/* Attach types without 32-bit calls are enough only if all targets are known to be 64-bit. */
static void test_targets_that_are_unknown(void)
{
	struct options o = {};
	struct session s = {.o = &o, .plan.whom = WATCH_TARGETS};
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	o.filter.pid[0] = gone;
	o.filter.pids = 1;
	is_u64(session_live_options(&s).accepts, LACKS_WRITES, "a target that has ended");
	s.plan.calls_if_free = true;
	is_u64(session_live_options(&s).accepts, LACKS_WRITES | ACCEPTS_FREE_CALLS,
	       "calls that cost nothing");
	o.tiers_given = true;
	is_u64(session_live_options(&s).accepts, LACKS_WRITES | ACCEPTS_ON_REQUEST,
	       "calls that are asked for");
	s.plan.whom = WATCH_ALL;
	is_u64(session_live_options(&s).accepts, ACCEPTS_ON_REQUEST, "for all processes");
	o.tiers_given = false;
	is_u64(session_live_options(&s).accepts, ACCEPTS_FREE_CALLS, "calls that cost nothing");
	s.plan.majors = true;
	ok(session_live_options(&s).majors, "major faults");
}

/* ---- processes that have ended ---- */

static unsigned int drains;

static int drain(struct source *src, const struct sink *sink)
{
	(void)src, (void)sink;
	drains++;
	return 0;
}

static int drain_badly(struct source *src, const struct sink *sink)
{
	(void)src, (void)sink;
	return -EIO;
}

static void take(struct session *s, const struct record *h)
{
	if (collector_take(&s->in.collector, h))
		abort();
}

static void begin(struct session *s)
{
	memset(s, 0, sizeof(*s));
	if (model_init(&s->in.m))
		abort();
	s->in.collector.m = &s->in.m;
	s->in.collector.filter = &s->in.filter;
}

static void end(struct session *s)
{
	collector_free(&s->in.collector);
	model_free(&s->in.m);
}

static void scan(struct session *s, uint64_t t_ns, uint32_t ring, uint32_t map, uint32_t missed)
{
	struct tick_record tick = tick_record(t_ns);

	tick.losses.ring = ring;
	tick.losses.map = map;
	tick.losses.missed = missed;
	take(s, &tick.h);
}

static void hook(struct session *s, enum hook_use use)
{
	struct hook_record r = hook_record("lifecycle", use);

	take(s, &r.h);
}

static void test_losses(void)
{
	struct session s;
	struct ends e = {};

	begin(&s);
	scan(&s, SECOND, 0, 0, 0);
	ends_begin(&e, &s.in.m, NULL);
	ok(ends_may_be_lost(&e, &s.in.m, &s.in.m.tick.losses),
	   "without a probe of ends, each scan asks");
	hook(&s, HOOK_ON);
	ok(!ends_may_be_lost(&e, &s.in.m, &s.in.m.tick.losses),
	   "with the probe, and without losses, none does");
	for (int i = 1; i <= 3; i++) {
		scan(&s, (1 + i) * SECOND, i, i > 1, i > 2);
		ok(ends_may_be_lost(&e, &s.in.m, &s.in.m.tick.losses),
		   "a record of kind %d was lost", i);
		ok(!ends_may_be_lost(&e, &s.in.m, &s.in.m.tick.losses), "it is asked once");
	}
	is_u64(e.losses, 5, "sum of all losses");
	ok(!e.whole, "only pids of another namespace need a scan of all processes");
	e = (struct ends){.foreign = true, .whole = true, .before = 5, .begin_ns = 100};
	ok(ends_may_be_lost(&e, &s.in.m, &s.in.m.tick.losses), "a whole scan");
	e.before = 4;
	ok(!ends_may_be_lost(&e, &s.in.m, &s.in.m.tick.losses), "a whole scan that lost records");
	e.whole = false;
	ok(!ends_is_gone(&e, 1, 99), "a scan of changed processes shows no end");
	e.whole = true;
	ok(ends_is_gone(&e, 1, 99) && !ends_is_gone(&e, 1, 100), "a process that was not scanned");
	end(&s);
}

static void test_ended(void)
{
	static const struct source_ops ops = {.drain = drain}, bad_ops = {.drain = drain_badly};
	struct source src = {.ops = &ops};
	struct session s;
	const struct sink sink = session_sink(&s);
	struct ends e = {};
	struct process_record p;
	const struct subject *gone;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	begin(&s);
	p = process_record(getpid(), 1, SECOND);
	take(&s, &p.h);
	p = process_record(child, 2, SECOND);
	p.g.fds = 77;
	take(&s, &p.h);
	scan(&s, SECOND, 0, 0, 0);
	ok(!ends_is_gone(&e, getpid(), 0) && ends_is_gone(&e, child, 0), "processes by their pids");
	ok(!ends_is_gone(&e, 0, 0), "pid 0 is no process");
	is_u64(ends_find(&e, &s.in.collector, &src, &sink), 0,
	       "a process of this scan has not ended");
	model_next_window(&s.in.m);
	scan(&s, 2 * SECOND, 0, 0, 0);
	src.ops = &bad_ops;
	ok(ends_find(&e, &s.in.collector, &src, &sink) == -EIO, "pending records cannot be read");
	src.ops = &ops;
	is_u64(ends_find(&e, &s.in.collector, &src, &sink), 1, "a process has ended");
	is_u64(drains, 1, "pending records are read before");
	gone = model_find(&s.in.m, &p.subject);
	ok(gone && gone->final && gone->now.g.fds == 77, "its last values are kept");
	is_u64(session_alive(&s), 1, "processes that are alive");
	is_u64(ends_find(&e, &s.in.collector, &src, &sink), 0, "it ends once");
	end(&s);
}

/* ---- origins of limits ---- */

static const struct origin_record *origin_of(struct session *s, struct finding *f)
{
	f->set_by[0] = 0;
	origins_attach(s, f);
	return model_origin(&s->in.m, &f->subject, f->limit - limit_table);
}

static void test_origins(void)
{
	const struct limit *nofile = &limit_table[LIMIT_NOFILE],
			   *maps = &limit_table[LIMIT_MAX_MAP_COUNT];
	struct source src = {.live = true};
	struct options o = {};
	struct session s;
	struct process_record p = process_record(getpid(), 1, SECOND);
	struct rule rule = {};
	struct finding f = {.limit = nofile, .rule = &rule, .open = true};

	begin(&s);
	s.o = &o;
	s.in.src = &src;
	f.subject = p.subject;
	take(&s, &p.h);
	scan(&s, SECOND, 0, 0, 0);
	ok(!origin_of(&s, &f), "if all processes are watched, no origin is looked up");
	s.plan.whom = WATCH_TARGETS;
	src.live = false;
	ok(!origin_of(&s, &f), "a recording has its own");
	src.live = true;
	f.open = false;
	ok(!origin_of(&s, &f), "a finding that is over");
	f.open = true;
	s.in.m.assumed[resource_find(nofile->name)] = 1;
	ok(!origin_of(&s, &f), "an assumed limit has none");
	s.in.m.assumed[resource_find(nofile->name)] = 0;
	ok(origin_of(&s, &f) && *f.set_by, "the origin of a limit of this process: %s", f.set_by);
	is_u64(s.in.m.origins, 1, "origins that were looked up");
	is_str(origin_of(&s, &f)->set_by, f.set_by, "it is known now");
	is_u64(s.in.m.origins, 1, "a limit is looked up once");
	f.want = 5000;
	ok(strstr(origin_of(&s, &f)->at_once, "5000"), "a command for a larger request");
	f.want = 4000;
	ok(strstr(origin_of(&s, &f)->at_once, "5000"), "a smaller request changes nothing");
	f.limit = &limit_table[LIMIT_NOFILE];
	f.subject.start_ns = 2; /* another process */
	f.want = 6000;
	ok(strstr(origin_of(&s, &f)->at_once, "6000"), "a request of another process");
	is_u64(s.in.m.origins, 2, "which has an origin of its own");
	f.want = 5500;
	ok(strstr(origin_of(&s, &f)->at_once, "6000"), "a smaller request of it");
	f.want = 7000;
	ok(strstr(origin_of(&s, &f)->at_once, "7000"), "a larger request of it");
	f.subject.start_ns = 1;
	f.want = 5000;
	ok(strstr(origin_of(&s, &f)->at_once, "5000"), "the first process has its own");
	f.want = 5001;
	ok(strstr(origin_of(&s, &f)->at_once, "5001"), "also after a larger request");
	f.set_by[0] = 0;
	f.limit = NULL;
	f.cause = "rlimit_nofile";
	origins_attach(&s, &f);
	ok(*f.set_by, "the limit of a cause");
	f.cause = NULL;
	strcpy(f.set_by, "known");
	f.limit = nofile;
	origins_attach(&s, &f);
	is_str(f.set_by, "known", "an origin that is known already");
	f.limit = maps;
	f.want = 0;
	ok(origin_of(&s, &f) && s.in.m.origins == 3, "another limit");
	f.limit = NULL;
	f.set_by[0] = 0;
	origins_attach(&s, &f);
	ok(!*f.set_by, "a finding without a limit");
	s.plan.whom = WATCH_ALL;
	s.plan.attributes = true;
	f.limit = nofile;
	f.subject.start_ns = 3;
	ok(origin_of(&s, &f), "diagnose looks up origins");
	end(&s);
}

int main(void)
{
	test_options();
	test_targets_that_are_unknown();
	test_losses();
	test_ended();
	test_origins();
	return tap_done();
}
