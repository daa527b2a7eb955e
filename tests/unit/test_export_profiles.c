// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the profiles of the exporter, with a played clock: which there are, of which part of the
 * ring they are, and how long they are kept.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "export/export.h"
#include "fixture.h"
#include "played_clock.h"
#include "tap.h"

static uint64_t now_ns = 1000 * SECOND; /* CLOCK_MONOTONIC */
static struct export x;
static struct options o = {.revision = "made"};
static struct run_plan plan;
static struct incident_watch watch;
static struct buf first, body;
static uint64_t scans; /* in the ring */
static int look(struct source *src, const struct sink *sink)
{
	(void)src, (void)sink;
	return -EIO; /* the ring has what this test puts into it */
}

static const struct source_ops ops = {.look = look};
static struct source src = {.ops = &ops, .live = true, .plain = true};

static int tell_nothing(void *ctx, const struct sink *sink)
{
	(void)ctx, (void)sink;
	return 0;
}

static void begin(void)
{
	memset(&x, 0, sizeof(x));
	plan_init(&plan, &o);
	x.o = x.s.o = &o;
	x.s.plan = plan;
	x.s.in.src = &src;
	x.s.in.pressure.root = -1;
	if (model_init(&x.s.in.m) || census_init(&x.census, &(struct census_limits){}) ||
	    node_init(&x.node, &x.census))
		abort();
	x.s.in.collector.m = &x.s.in.m;
	x.s.in.collector.filter = &x.s.in.filter;
	/* a collection of this moment is shared */
	x.up = true;
}

/* The exporter has collected just now. */
static int ask(const char *name, double seconds, struct buf *ret)
{
	x.collected_ns = now_ns;
	x.up = true;
	buf_clear(ret);
	return export_profile(&x, name, seconds, ret);
}

static void end(void)
{
	node_free(&x.node);
	census_free(&x.census);
	collector_free(&x.s.in.collector);
	model_free(&x.s.in.m);
}

/* Adds a scan a second after the last one. */
static void add_scan(void)
{
	struct process_record p = process_record(10, 1, ++scans * SECOND - 1000);
	struct tick_record tick = tick_record(scans * SECOND);

	tick.wall_ns = 1700000000 * SECOND + scans * SECOND;
	p.g.fds = scans;
	p.g.map_count = 100 * scans;
	p.g.min_flt = 1000 * scans;
	record_ring_take(watch.in.ring, &p.h);
	record_ring_take(watch.in.ring, &tick.h);
}

static bool same(void)
{
	return first.len == body.len && !memcmp(first.s, body.s, body.len);
}

static void test_option(void)
{
	/* the descriptors that files get next */
	int one = open("/dev/null", O_RDONLY), two = open("/dev/null", O_RDONLY);

	close(one);
	close(two);
	begin();
	o.profiles = false;
	is_u64(export_profiles_open(&x), 0, "without the option");
	export_profiles_plan(&x.s.plan);
	ok(!x.profiles && !x.s.plan.profiles && !x.s.plan.attributes, "nothing is planned");
	export_profiles_close(&x);
	o.profiles = true;
	is_u64(export_profiles_open(&x), 0, "with the option");
	plan_init(&x.s.plan, &o);
	export_profiles_plan(&x.s.plan);
	ok(x.profiles && x.s.plan.profiles && x.s.plan.attributes, "profiles are planned");
	ok(fcntl(one, F_GETFD) == FD_CLOEXEC && fcntl(two, F_GETFD) == FD_CLOEXEC, "two files");
	ok(ask("heap", 0, &body) == -ENOENT, "there is no profile of this name");
	ok(ask("", 0, &body) == -ENOENT, "nor one without a name");
	ok(ask("faults", 0, &body) == -EAGAIN && !body.len, "without a ring, there is none yet");
	export_profiles_close(&x);
	ok(!x.profiles && fcntl(one, F_GETFD) == -1 && fcntl(two, F_GETFD) == -1, "closed");
	export_profiles_close(&x);
	end();
}

static void begin_ring(void)
{
	struct host_record host = host_record(1);

	begin();
	o.profiles = true;
	scans = 0;
	if (export_profiles_open(&x) || record_ring_make(&(struct ring_bounds){.bytes = 1 << 20},
							 tell_nothing, NULL, &watch.in.ring))
		abort();
	x.s.incidents = &watch;
	ok(ask("faults", 0, &body) == -EAGAIN, "of an empty ring, there is no profile yet");
	record_ring_take(watch.in.ring, &host.h);
	for (int i = 0; i < 10; i++)
		add_scan();
}

static void end_ring(void)
{
	export_profiles_close(&x);
	record_ring_free(watch.in.ring);
	x.s.incidents = NULL;
	end();
}

static void test_names(void)
{
	static const char *const names[] = {"faults", "mappings", "fds", "stalls"};

	begin_ring();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		is_u64(-ask(names[i], 0, &body), 0, names[i]);
		ok(body.len > 20 && !memcmp(body.s, "\x1f\x8b", 2), "a compressed profile");
		if (i)
			ok(!same(), "which differs from the one before");
		buf_clear(&first);
		buf_add(&first, body.s, body.len);
	}
	end_ring();
}

/* A profile is kept for a second if it took no time. */
static void test_kept(void)
{
	begin_ring();
	is_u64(-ask("fds", 0, &first), 0, "a profile");
	add_scan();
	now_ns += SECOND - 1;
	ok(!ask("fds", 0, &body) && same(), "within a second, it is the same");
	now_ns++;
	ok(!ask("fds", 0, &body) && !same(), "then it is made again");
	end_ring();
}

static void test_seconds(void)
{
	begin_ring();
	is_u64(-ask("fds", 2, &first), 0, "the last two seconds");
	ok(!ask("fds", 2, &body) && same(), "are kept");
	ok(ask("fds", 3, &body) == -EAGAIN && !body.len, "no other seconds so soon");
	ok(!ask("fds", 0, &body) && !same(), "but the whole ring");
	ok(!ask("fds", 2, &body) && same(), "which is kept beside them");
	now_ns += SECOND - 1;
	ok(ask("fds", 3, &body) == -EAGAIN, "nor within a second");
	now_ns++;
	ok(!ask("fds", 3, &body) && !same(), "then three seconds");
	is_u64(-ask("fds", 0, &first), 0, "the whole ring is made again, too");
	now_ns += SECOND;
	ok(!ask("fds", 9, &body) && same(), "nine seconds are the whole ring");
	now_ns += SECOND;
	ok(!ask("fds", 10, &body) && same(), "and so are more");
	now_ns += SECOND;
	ok(!ask("fds", 7.9, &body) && !same(), "less is a part of it");
	end_ring();
}

int main(void)
{
	test_option();
	test_names();
	test_kept();
	test_seconds();
	buf_free(&first);
	buf_free(&body);
	return tap_done();
}
