// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the bounds of triggers of incidents, with a played clock: how many may come in an hour, how
 * long an equal trigger is ignored, when an incident is complete, and which place and name it gets.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <regex.h>
#include <time.h>

#include "fixture.h"
#include "incident/incidents.h"
#include "tap.h"

#define MS	1000000ULL
#define HOUR_NS (3600 * SECOND)
#define WALL_NS (1700000000 * SECOND) /* 2023-11-14T22:13:20Z */
#define LATE_NS (30 * SECOND)
#define PLACES	(INCIDENTS_AT_ONCE - INCIDENTS_BY_HAND) /* of incidents that come by themselves */

static uint64_t now_ns = 1000 * SECOND, wall_ns = WALL_NS;
static struct incidents in;
static struct incident_options opt;
static struct incident_news last; /* the last one of those that were announced */
static char last_name[STORED_NAME_BYTES];
static unsigned int news[INCIDENT_FAILED + 1], lowered;
static unsigned int store; /* number of the store, so that each test has its own */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*real)(clockid_t, struct timespec *);
	uint64_t t_ns = clock == CLOCK_REALTIME ? wall_ns : now_ns;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
		return real(clock, ret);
	ret->tv_sec = t_ns / SECOND;
	ret->tv_nsec = t_ns % SECOND;
	return 0;
}

/* The disk of this test is as fast as its clock. */
int fsync(int fd)
{
	return fd < 0 ? -1 : 0;
}

static int tell_nothing(void *ctx, const struct sink *sink)
{
	(void)ctx, (void)sink;
	return 0;
}

static void take_news(void *ctx, const struct incident_news *one)
{
	(void)ctx;
	news[one->event]++;
	last = *one;
	snprintf(last_name, sizeof(last_name), "%s", one->name ? one->name : "");
}

static void lower_detail(void *ctx)
{
	(void)ctx;
	lowered++;
}

static const char *store_path(void)
{
	char name[32];

	snprintf(name, sizeof(name), "store%u", store);
	return fixture_path(name);
}

static void begin(uint64_t per_hour)
{
	char error[512];

	store++;
	opt.ring.bytes = 1 << 20;
	opt.per_hour = per_hour;
	memset(news, 0, sizeof(news));
	lowered = 0;
	now_ns = 1000 * SECOND;
	wall_ns = WALL_NS;
	memset(&in, 0x5a, sizeof(in)); /* nothing of what was there before counts */
	if (incidents_open(&in, &opt, store_path(), tell_nothing, NULL, error, sizeof(error)))
		exit(1);
	in.news = take_news;
	in.lower = lower_detail;
}

static void end(void)
{
	incidents_close(&in);
	memset(&opt, 0, sizeof(opt));
}

static struct incident_cause oom_of(const char *workload, uint64_t at_ns)
{
	return (struct incident_cause){.trigger = INCIDENT_OOM,
				       .comm = "victim",
				       .workload = workload,
				       .title = "killed",
				       .at_ns = at_ns};
}

static const char *trigger(struct incident_cause c)
{
	return incidents_trigger(&in, &c);
}

/*
 * Begins an incident of the nth workload, and forgets it: its file is not written again. Returns
 * whether it was begun.
 */
static bool begun(enum incident_trigger t, unsigned int nth)
{
	char workload[32];
	struct incident_cause c;
	bool good;

	snprintf(workload, sizeof(workload), "w%u", nth);
	c = oom_of(workload, 0);
	c.trigger = t;
	good = trigger(c);
	memset(in.waiting, 0, sizeof(in.waiting));
	return good;
}

static unsigned int begun_at_once(enum incident_trigger t)
{
	static unsigned int nth;
	unsigned int n = 0;

	for (int i = 0; i < 40; i++)
		n += begun(t, nth++);
	return n;
}

/* Six may follow one another, or a quarter of those of an hour if these are more. */
static void test_rates(void)
{
	static const struct {
		uint64_t per_hour;
		unsigned int at_once;
	} rows[] = {{1, 6}, {4, 6}, {24, 6}, {28, 7}, {40, 10}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].per_hour);
		ok(begun_at_once(INCIDENT_OOM) == rows[i].at_once,
		   "with %" PRIu64 " in an hour, %u may follow one another", rows[i].per_hour,
		   rows[i].at_once);
		is_u64(in.counts.over_rate, 40 - rows[i].at_once, "the others are too many");
		is_str(last.why, "too many incidents in a short time", "which is the reason");
		now_ns += HOUR_NS / rows[i].per_hour - SECOND;
		ok(!begun(INCIDENT_OOM, 1), "the next one not before its time");
		now_ns += 2 * SECOND;
		ok(begun(INCIDENT_OOM, 2), "but after it");
		ok(!begun(INCIDENT_OOM, 3), "and only one");
		end();
	}
}

/* Who asks for incidents gets ten at once, and one each half minute, in addition to the others. */
static void test_requests(void)
{
	static const enum incident_trigger manual[] = {INCIDENT_USR1, INCIDENT_SNAPSHOT,
						       INCIDENT_HTTP};

	for (size_t i = 0; i < sizeof(manual) / sizeof(manual[0]); i++) {
		begin(1);
		opt.rest_ns = in.o.rest_ns = HOUR_NS;
		is_u64(begun_at_once(manual[i]), 10, "ten requests at once");
		now_ns += 29 * SECOND;
		ok(!begun(manual[i], 0), "no other within half a minute");
		now_ns += 2 * SECOND;
		ok(begun(manual[i], 0), "one after it, though equal to another");
		is_u64(in.counts.repeated, 0, "requests are not compared");
		is_u64(begun_at_once(INCIDENT_OOM), 6, "they take nothing from the others");
		end();
	}
	begin(1);
	ok(begun(INCIDENT_PRESSURE, 1) && begun_at_once(INCIDENT_FINDING) == 5 &&
		   begun_at_once(INCIDENT_SIGNAL) == 0,
	   "findings, pressure and signals come by themselves");
	end();
}

/* An equal trigger is ignored for the time of rest, by the times of the events. */
static void test_rest(void)
{
	begin(1000000);
	in.o.rest_ns = 10 * SECOND;
	ok(trigger(oom_of("w", 100 * SECOND)), "an incident");
	incidents_work(&in);
	ok(!trigger(oom_of("w", 110 * SECOND - 1)), "an equal trigger just before the rest ends");
	is_u64(in.counts.repeated, 1, "is a repetition");
	ok(trigger(oom_of("w", 110 * SECOND)), "at its end it is an incident");
	incidents_work(&in);
	ok(!trigger(oom_of("w", 120 * SECOND - 1)), "which has a rest of its own");
	ok(trigger(oom_of("w", 120 * SECOND)), "that ends, too");
	is_u64(in.counts.triggers, 5, "triggers");
	is_u64(in.counts.by[INCIDENT_OOM], 3, "incidents");
	end();
}

/* What makes two triggers differ. */
static void test_equal(void)
{
	static const struct rule m01 = {.id = "M01", .trigger = ON_OOM},
				 m02 = {.id = "M02", .trigger = ON_OOM};
	struct finding one = {.rule = &m01}, two = {.rule = &m02};
	struct incident_cause c = oom_of("w", 0);

	begin(1000000);
	in.o.rest_ns = HOUR_NS;
	ok(trigger(c), "a trigger");
	incidents_work(&in);
	c.title = "another";
	ok(!trigger(c), "the title makes no difference");
	c.cause = "max_map_count";
	ok(trigger(c), "the cause does");
	incidents_work(&in);
	c.comm = "other";
	ok(trigger(c), "the program");
	incidents_work(&in);
	c.workload = "x";
	ok(trigger(c), "the workload");
	incidents_work(&in);
	c.trigger = INCIDENT_SIGNAL;
	ok(trigger(c), "the kind of event");
	incidents_work(&in);
	c.finding = &one;
	ok(trigger(c), "a finding");
	incidents_work(&in);
	c.trigger = INCIDENT_FINDING;
	ok(!trigger(c), "which counts more than the kind of event");
	c.finding = &two;
	ok(trigger(c), "and another finding differs");
	is_u64(in.counts.repeated, 2, "repetitions");
	end();
}

/* The 64 last triggers are remembered. */
static void test_remembered(void)
{
	begin(1000000);
	in.o.rest_ns = HOUR_NS;
	for (unsigned int i = 0; i < INCIDENTS_SEEN; i++)
		if (!begun(INCIDENT_OOM, i))
			ok(false, "incident %u", i);
	ok(!begun(INCIDENT_OOM, 0) && !begun(INCIDENT_OOM, INCIDENTS_SEEN - 1),
	   "the first one and the last one are remembered");
	ok(begun(INCIDENT_OOM, INCIDENTS_SEEN), "one more");
	ok(begun(INCIDENT_OOM, 0), "takes the place of the first one");
	ok(!begun(INCIDENT_OOM, 2), "and of no other");
	end();
}

static void fill_ring(uint64_t t_ns)
{
	struct tick_record tick = tick_record(t_ns);

	record_ring_take(in.ring, &tick.h);
}

/*
 * An incident is complete when its time is over and the ring has that time. It waits half a minute
 * at most for a scan that was late.
 */
static void test_times(void)
{
	static const struct {
		int64_t until_ns; /* time of the last record, from the trigger */
		bool late;	  /* the ring lacks the end */
		const char *what;
	} rows[] = {
		{5 * SECOND, false, "the ring has the end exactly"},
		{5 * SECOND - 1, true, "the ring lacks the last ns"},
		{0, true, "the ring ends with the trigger"},
		{-1, false, "the ring ends before the trigger: there are no scans"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t at = 1000 * SECOND, due = at + 5 * SECOND;

		begin(1000);
		in.o.after_ns = 5 * SECOND;
		ok(trigger(oom_of("w", at)), "%s", rows[i].what);
		fill_ring(at + rows[i].until_ns);
		now_ns = due - 1;
		incidents_work(&in);
		ok(incidents_wait(&in) && !lowered, "it waits until its time is over");
		now_ns = due;
		incidents_work(&in);
		ok(incidents_wait(&in) == rows[i].late, "it %s then",
		   rows[i].late ? "waits for another scan" : "is complete");
		now_ns = due + LATE_NS - 1;
		incidents_work(&in);
		ok(incidents_wait(&in) == rows[i].late, "the same within half a minute");
		now_ns = due + LATE_NS;
		incidents_work(&in);
		ok(!incidents_wait(&in), "it is complete after half a minute");
		is_u64(lowered, 1, "the detail is lowered once");
		is_u64(news[INCIDENT_COMPLETED], 1, "it is completed once");
		end();
	}
}

/* Of equal times the first place is used; else the one whose time is over next. */
static void test_next_place(void)
{
	char workload[32];

	begin(1000000);
	in.o.after_ns = HOUR_NS;
	for (int i = 0; i < PLACES; i++) {
		snprintf(workload, sizeof(workload), "w%d", i);
		trigger(oom_of(workload, 0));
	}
	is_u64(news[INCIDENT_COMPLETED], 0, "all places are in use");
	trigger(oom_of("more", 0));
	is_u64(news[INCIDENT_COMPLETED], 1, "one more completes an incident");
	is_str(in.waiting[0].r.workload, "more", "of equal ones the first");
	in.waiting[PLACES - 1].due_ns--;
	trigger(oom_of("last", 0));
	is_str(in.waiting[PLACES - 1].r.workload, "last", "the one whose time is over next");
	in.waiting[2].due_ns -= 2;
	in.waiting[3].due_ns -= 1;
	trigger(oom_of("third", 0));
	is_str(in.waiting[2].r.workload, "third", "not one whose time is over later");
	is_str(in.waiting[3].r.workload, "w3", "which still waits");
	is_u64(in.counts.by[INCIDENT_OOM], PLACES + 3, "each is an incident");
	end();
}

/* What the record says about the time, and the name of the file. */
static void test_record(void)
{
	struct incident_cause c = oom_of("w", 0);
	const char *name;

	begin(1000);
	in.o.after_ns = HOUR_NS;
	name = trigger(c);
	is_str(name, "20231114T221320.000Z-oom.fsr", "a name with the time and the kind");
	is_u64(in.waiting[0].r.at_ns, now_ns, "a trigger without a time comes now");
	is_u64(in.waiting[0].r.wall_ns, WALL_NS, "also by the clock on the wall");
	c.workload = "x";
	is_str(trigger(c), "20231114T221320.001Z-oom.fsr", "the next one has the next ms");
	c.workload = "y";
	is_str(trigger(c), "20231114T221320.002Z-oom.fsr", "and so on");
	c = oom_of("z", now_ns - 7 * SECOND);
	is_str(trigger(c), "20231114T221313.000Z-oom.fsr", "an earlier event");
	is_u64(in.waiting[3].r.at_ns, now_ns - 7 * SECOND, "its time");
	is_u64(in.waiting[3].r.wall_ns, WALL_NS - 7 * SECOND, "also by the clock on the wall");
	c = oom_of("later", now_ns + SECOND);
	is_str(trigger(c), "20231114T221320.003Z-oom.fsr", "a time to come is now");
	is_u64(in.waiting[4].r.wall_ns, WALL_NS, "by the clock on the wall");
	is_u64(in.waiting[4].due_ns, now_ns + HOUR_NS, "the time after the trigger begins now");
	end();
}

/* The incident of a limit that is near gets the failed call as its trigger. */
static void test_replaced(void)
{
	static const struct rule state = {.id = "M02", .trigger = ON_MOUNT},
				 event = {.id = "M01", .trigger = ON_REFUSED};
	const struct process_key process = {.pid = 7, .start_ns = 1};
	struct finding near = {.rule = &state, .title = "near"},
		       failed = {.rule = &event, .title = "failed"};
	struct incident_cause c = {
		.trigger = INCIDENT_FINDING, .finding = &near, .subject = &process};
	char first[STORED_NAME_BYTES], path[256];
	const char *name;

	begin(1000);
	in.o.after_ns = 10 * SECOND;
	in.o.rest_ns = HOUR_NS;
	name = trigger(c);
	is_str(name, "20231114T221320.000Z-M02.fsr", "a limit is near");
	snprintf(first, sizeof(first), "%s", name ? name : "");
	in.waiting[0].r.raised = INCIDENT_RAISED_MAPS;
	strcpy(in.waiting[0].r.not_raised, "no fds");
	now_ns += SECOND;
	wall_ns += SECOND;
	ok(!trigger(c), "again");
	is_u64(in.counts.merged, 1, "which the incident contains");
	c.finding = &failed;
	is_str(trigger(c), "20231114T221321.000Z-M01.fsr", "now a call failed: a new file");
	is_u64(in.counts.merged, 2, "of the same incident");
	is_u64(in.counts.by[INCIDENT_FINDING], 1, "which is one");
	is_str(in.waiting[0].r.title, "failed", "with the title of the later trigger");
	is_u64(in.waiting[0].r.more, 2, "the number of later triggers stays");
	is_u64(in.waiting[0].r.raised, INCIDENT_RAISED_MAPS, "and what was raised");
	is_str(in.waiting[0].r.not_raised, "no fds", "and what was not");
	is_u64(in.waiting[0].due_ns, now_ns + 10 * SECOND, "its time begins anew");
	is_u64(last.event, INCIDENT_DROPPED, "the file of the first trigger is removed");
	is_str(last_name, first, "by its name");
	snprintf(path, sizeof(path), "%s/%s", store_path(), first);
	ok(access(path, F_OK), "and is gone");
	snprintf(path, sizeof(path), "%s/%s", store_path(), in.waiting[0].name);
	ok(!access(path, F_OK), "the new one is there");
	ok(!trigger(c) && in.counts.merged == 3, "the same failure again changes nothing");
	strcpy(failed.title, "other");
	failed.cause = c.cause = "max_map_count";
	ok(!trigger(c) && !strcmp(in.waiting[0].r.title, "failed"),
	   "nor does another failure: the first one explains the incident");
	is_u64(in.waiting[0].r.more, 4, "they are counted");
	end();
	begin(1000);
	in.o.after_ns = 10 * SECOND;
	c.finding = &near;
	c.subject = NULL;
	c.cause = NULL;
	trigger(c);
	c.finding = &failed;
	ok(trigger(c) && in.counts.by[INCIDENT_FINDING] == 2,
	   "without a process, two findings are two incidents");
	end();
}

/* The news of a failure come once, until a file can be written again. */
static void test_failures(void)
{
	char path[160], gone[192];

	begin(1000);
	snprintf(path, sizeof(path), "%s", store_path());
	snprintf(gone, sizeof(gone), "%s.gone", path);
	rename(path, gone);
	ok(!begun(INCIDENT_OOM, 1), "a store that is gone");
	is_u64(news[INCIDENT_FAILED], 1, "is told once, at the trigger");
	ok(!begun(INCIDENT_OOM, 2) && news[INCIDENT_FAILED] == 1, "not again");
	is_u64(in.store.failed, 2, "each try is counted");
	is_u64(in.store.stored, 0, "none was stored");
	rename(gone, path);
	ok(begun(INCIDENT_OOM, 3), "it is back");
	is_u64(in.store.stored, 1, "which is counted");
	is_u64(news[INCIDENT_STORED], 1, "and told");
	rename(path, gone);
	ok(!begun(INCIDENT_OOM, 4), "gone again");
	is_u64(news[INCIDENT_FAILED], 2, "which is told");
	rename(gone, path);
	end();
}

/* Why a store could not be opened. */
static void test_errors(void)
{
	char error[512] = "", want[512], why[128];
	const char *absent = fixture_path("absent/a/b");
	regex_t regex;
	int err;

	opt.ring.bytes = 1 << 20;
	err = incidents_open(&in, &opt, absent, tell_nothing, NULL, error, sizeof(error));
	is_u64(-err, ENOENT, "no directory");
	snprintf(want, sizeof(want), "cannot make %s: No such file or directory", absent);
	is_str(error, want, "and why");
	ok(!in.ring && in.store.fd < 0, "nothing is open");
	ok(!trigger(oom_of("w", 0)) && in.counts.triggers == 1, "a trigger is only counted");
	err = regcomp(&regex, "a(", REG_EXTENDED);
	regerror(err, &regex, why, sizeof(why));
	opt.signal_pattern = "a(";
	err = incidents_open(&in, &opt, absent, tell_nothing, NULL, error, sizeof(error));
	is_u64(-err, EINVAL, "a pattern that is none");
	snprintf(want, sizeof(want), "a(: %s", why);
	is_str(error, want, "and why");
	opt.signal_pattern = NULL;
}

int main(void)
{
	test_rates();
	test_requests();
	test_rest();
	test_equal();
	test_remembered();
	test_times();
	test_next_place();
	test_record();
	test_replaced();
	test_failures();
	test_errors();
	return tap_done();
}
