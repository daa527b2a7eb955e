// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the times of collections, with a played clock: which scrapes share one, and how long a scan
 * may take.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "export/export.h"
#include "fixture.h"
#include "played_clock.h"
#include "tap.h"

#define SHARED_NS (SECOND / 10)
#define BEGIN_NS  (1000 * SECOND)

static uint64_t now_ns = BEGIN_NS; /* CLOCK_MONOTONIC */
static struct export x;
static struct options o = {.revision = "made"};
static struct run_plan plan;
static unsigned int looks;
static int64_t takes_ns;     /* the time of a scan */
static int sent_err;	     /* result of the last record of a scan */
static uint64_t deadline_ns; /* the deadline, as a scan sees it */
static int look(struct source *src, const struct sink *sink)
{
	struct tick_record tick = tick_record(now_ns);

	(void)src;
	looks++;
	now_ns += takes_ns;
	deadline_ns = x.deadline_ns;
	sent_err = sink->take(sink->ctx, &tick.h);
	return sent_err;
}

static const struct source_ops ops = {.look = look};
static struct source src = {.ops = &ops, .live = true, .plain = true};

static void begin(void)
{
	struct identity_options opt = {.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
	char error[256];

	memset(&x, 0, sizeof(x));
	plan_init(&plan, &o);
	x.o = x.s.o = &o;
	x.s.plan = plan;
	x.s.in.src = &src;
	x.s.in.pressure.root = -1;
	x.root = opt.root;
	if (model_init(&x.s.in.m) || census_init(&x.census, &(struct census_limits){}) ||
	    node_init(&x.node, &x.census) || identities_open(&opt, &x.ids, error, sizeof(error)))
		abort();
	x.s.in.collector.m = &x.s.in.m;
	x.s.in.collector.filter = &x.s.in.filter;
	looks = 0;
	takes_ns = 0;
	now_ns = BEGIN_NS;
}

static void end(void)
{
	identities_close(x.ids);
	node_free(&x.node);
	census_free(&x.census);
	collector_free(&x.s.in.collector);
	model_free(&x.s.in.m);
	close(x.root);
}

/* Scrapes within 0.1 s of the begin of a collection share it. */
static void test_shared(void)
{
	begin();
	export_collect(&x, 0);
	is_u64(looks, 1, "a collection");
	export_collect(&x, 0);
	is_u64(looks, 1, "is shared at the same time");
	now_ns += SHARED_NS - 1;
	export_collect(&x, 0);
	is_u64(looks, 1, "and within 0.1 s");
	now_ns++;
	export_collect(&x, 0);
	is_u64(looks, 2, "but not after it");
	is_u64(x.collected_ns, now_ns, "the time begins anew");
	takes_ns = SHARED_NS;
	now_ns += SHARED_NS;
	export_collect(&x, 0);
	export_collect(&x, 0);
	is_u64(looks, 4, "a collection that takes 0.1 s is not shared");
	end();
}

/* A scan has 95 % of the time of the scrape. */
static void test_deadlines(void)
{
	static const struct {
		double timeout_s;
		int64_t takes_ns;
		bool late;
	} rows[] = {
		{0, 3600LL * 1000000000, false},
		{-1, 3600LL * 1000000000, false},
		{10, 9500000000 - 1, false},
		{10, 9500000000, false},
		{10, 9500000000 + 1, true},
		{1, 950000000, false},
		{1, 950000001, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		takes_ns = rows[i].takes_ns;
		export_collect(&x, rows[i].timeout_s);
		ok((sent_err == -ETIMEDOUT) == rows[i].late,
		   "a scan of %.9f s, a scrape of %g s: %s", takes_ns / 1e9, rows[i].timeout_s,
		   rows[i].late ? "late" : "in time");
		ok(x.partial == rows[i].late && x.up == !rows[i].late, "which it says");
		ok(!deadline_ns == (rows[i].timeout_s <= 0), "a deadline in the scan");
		is_u64(x.deadline_ns, 0, "and none after it");
		if (rows[i].late) {
			takes_ns = 0;
			export_collect(&x, 0);
			ok(looks == 2 && x.up && !x.partial, "it is not shared");
		}
		end();
	}
}

/* A page says how long its collection took. */
static void test_durations(void)
{
	struct buf b = {};

	begin();
	export_collect(&x, 0);
	now_ns += 1250 * SECOND / 1000;
	export_render(&x, exposition_negotiate(""), &b);
	ok(b.s && strstr(b.s, "\nfaultscope_scrape_duration_seconds 1.25\n"),
	   "the time since the begin of the collection");
	buf_free(&b);
	end();
}

/* While the exporter keeps a ring, it scans by itself if nobody has scraped for twenty seconds. */
static void test_own_scans(void)
{
	static struct incident_watch watch;

	begin();
	export_collect(&x, 0);
	now_ns += 3600 * SECOND;
	ok(!export_incidents_scan_is_due(&x), "without a ring, no scan is due");
	export_collect(&x, 0);
	x.s.incidents = &watch;
	ok(!export_incidents_scan_is_due(&x), "a scan was made now");
	now_ns += 20 * SECOND - 1;
	ok(!export_incidents_scan_is_due(&x), "within twenty seconds, none is due");
	now_ns++;
	ok(export_incidents_scan_is_due(&x), "then one is");
	x.collected_ns = now_ns;
	ok(!export_incidents_scan_is_due(&x), "a scrape takes its place");
	watch.raised = true;
	ok(export_incidents_scan_is_due(&x), "while an incident waits, one is always due");
	x.s.incidents = NULL;
	end();
}

int main(void)
{
	test_shared();
	test_deadlines();
	test_durations();
	test_own_scans();
	return tap_done();
}
