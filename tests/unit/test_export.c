// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests how the exporter collects: which metrics each record changes, when a scrape shares a
 * collection, failed and late collections, and processes that ended unseen. The source of the
 * records is a part of this test.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/export.h"
#include "fixture.h"
#include "probe/host_facts.h"
#include "session/memory_readings.h"
#include "tap.h"

static struct export x;
static struct options o = {.revision = "made"};
static struct run_plan plan;
static unsigned int looks;
static int look_err;
static uint32_t lost;				 /* records that were lost, as scans say */
static void (*looking)(const struct sink *sink); /* what a scan sends */
static int sent_err;				 /* result of the last record that was sent */

static int look(struct source *src, const struct sink *sink)
{
	struct tick_record tick = tick_record(host_monotonic_ns());

	(void)src;
	tick.losses.ring = lost;
	looks++;
	sent_err = 0;
	if (look_err)
		return look_err;
	if (looking)
		looking(sink);
	return sent_err ?: sink->take(sink->ctx, &tick.h);
}

static unsigned int drains;

/* A process has changed after the scan. */
static int drain(struct source *src, const struct sink *sink)
{
	struct process_record p = process_record(getpid(), 1, host_monotonic_ns());

	(void)src;
	drains++;
	p.g.fds = 99;
	p.g.fd_soft = 1024;
	strcpy(p.g.comm, "made");
	return sink->take(sink->ctx, &p.h);
}

static const struct source_ops ops = {.look = look, .drain = drain};
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
	x.census.limits = (struct census_limits){.workloads = 100, .series = 1000};
	looks = look_err = lost = 0;
}

static void send(const struct sink *sink, const struct record *h)
{
	sent_err = sent_err ?: sink->take(sink->ctx, h);
}

static pid_t others[2]; /* a process that has ended, and one that runs */

static void send_some(const struct sink *sink)
{
	struct process_record p = process_record(getpid(), 1, host_monotonic_ns());
	struct oom_record oom = RECORD(oom_record, RECORD_OOM, SECOND);
	struct hook_record hook = hook_record("lifecycle", HOOK_ON);

	send(sink, &hook.h);
	p.g.fds = 17;
	p.g.fd_soft = 1024;
	p.g.map_count = 33;
	p.g.min_flt = 5000;
	strcpy(p.g.comm, "made");
	send(sink, &p.h);
	if (looks > 1)
		return;
	oom.subject = p.subject;
	oom.constraint = OOM_NONE;
	strcpy(oom.comm, "made");
	send(sink, &oom.h);
	for (int i = 0; i < 2; i++) {
		p.subject.pid = others[i];
		p.subject.start_ns = 2;
		strcpy(p.g.comm, i ? "runs" : "ended");
		send(sink, &p.h);
	}
}

static char *page(void)
{
	static struct buf b;

	buf_clear(&b);
	export_render(&x, exposition_negotiate(""), &b);
	return b.s ? b.s : "";
}

static bool shows(const char *line)
{
	char all[256];

	snprintf(all, sizeof(all), "\n%s\n", line);
	if (strstr(page(), all))
		return true;
	printf("# no line: %s\n", line);
	return false;
}

static void end(void)
{
	identities_close(x.ids);
	node_free(&x.node);
	census_free(&x.census);
	collector_free(&x.s.in.collector);
	model_free(&x.s.in.m);
}

static void test_collections(void)
{
	begin();
	looking = send_some;
	export_collect(&x, 0);
	ok(x.up && !x.partial && looks == 1, "a collection");
	ok(shows("faultscope_up 1"), "it succeeded");
	ok(shows("faultscope_mappings{workload=\"made\"} 33") &&
		   shows("faultscope_open_fds{workload=\"made\"} 17"),
	   "values of a process");
	ok(shows("faultscope_workloads 3"), "workloads");
	ok(shows("faultscope_probe_info{probe=\"lifecycle\",attach_type=\"tp_btf\"} 1"), "probes");
	export_collect(&x, 0);
	is_u64(looks, 1, "the next scrape shares the collection");
	x.collected_ns -= 101000000;
	export_collect(&x, 0);
	is_u64(looks, 2, "after 0.1 s, it does not");
	look_err = -EIO;
	x.collected_ns -= 101000000;
	export_collect(&x, 0);
	ok(!x.up && !x.partial && shows("faultscope_up 0"), "a scan that fails");
	look_err = 0;
	export_collect(&x, 0);
	ok(x.up && looks == 4, "it is not shared");
	is_u64(x.deadline_ns, 0, "there is no deadline");
	x.collected_ns -= 101000000;
	export_collect(&x, 1e-9);
	ok(x.partial && !x.up && sent_err == -ETIMEDOUT, "a scan that is late");
	ok(!strstr(page(), "faultscope_workloads "), "workloads are not known then");
	export_collect(&x, 100);
	ok(x.up && !x.partial && sent_err == 0, "a scan that has time");
	end();
}

static void test_ends(void)
{
	others[0] = fork();
	if (!others[0])
		_exit(0);
	waitpid(others[0], NULL, 0);
	others[1] = getppid();
	begin();
	looking = send_some;
	export_collect(&x, 0);
	ok(shows("faultscope_open_fds{workload=\"ended\"} 17"), "a process whose end was not seen");
	x.collected_ns -= 101000000;
	export_collect(&x, 0);
	ok(shows("faultscope_open_fds{workload=\"ended\"} 17"), "without losses, nobody asks");
	x.collected_ns -= 101000000;
	looking = NULL;
	lost = 1;
	export_collect(&x, 0);
	ok(!strstr(page(), "faultscope_open_fds{workload=\"ended\"}") &&
		   shows("faultscope_open_fds{workload=\"runs\"} 17"),
	   "after a loss, processes that are gone end");
	lost = 0;
	end();
}

/* The search for ended processes reads pending records. They go to the metrics and to the ring. */
static void test_pending(void)
{
	struct incident_watch incidents = {};

	others[0] = fork();
	if (!others[0])
		_exit(0);
	waitpid(others[0], NULL, 0);
	begin();
	x.s.incidents = &incidents;
	looking = send_some;
	drains = 0;
	for (int scan = 1; scan <= 17; scan++) {
		x.collected_ns = 0;
		export_collect(&x, 0);
		ok(drains == (scan > 16), "scan %d: %u reads of pending records", scan, drains);
	}
	x.s.incidents = NULL;
	ok(shows("faultscope_open_fds{workload=\"made\"} 99"), "the metrics have their values");
	is_u64(session_alive(&x.s), 2, "processes that are alive");
	end();
}

static void test_resident(void)
{
	begin();
	is_u64(export_resident_open(&x), 0, "without the option");
	export_resident_plan(&x.s.plan);
	ok(!x.resident && !x.s.plan.attributes && !x.s.plan.resident_each, "nothing is planned");
	ok(!export_resident_places(&x), "no place");
	o.resident_pattern = "^(made";
	is_u64(export_resident_open(&x), EXIT_USAGE, "an invalid pattern");
	o.resident_pattern = "^made$";
	o.limit_resident = 7;
	o.limit_workloads = 9;
	is_u64(export_resident_open(&x), 0, "a pattern");
	export_resident_plan(&x.s.plan);
	ok(x.s.plan.attributes && x.s.plan.attributes_pages &&
		   x.s.plan.resident_each == MEMORY_EACH && x.s.plan.resident_most == 64 &&
		   (x.s.plan.tiers & MEMORY_TIERS) == MEMORY_TIERS,
	   "what is planned");
	looking = send_some;
	export_collect(&x, 0);
	ok(model_each(&x.s.in.m, NULL) && !model_each(&x.s.in.m, model_each(&x.s.in.m, NULL)),
	   "only the selected workload is in the model");
	export_resident_gone(&x, &model_each(&x.s.in.m, NULL)->id);
	ok(model_each(&x.s.in.m, NULL)->final, "a process that ended");
	export_resident_close(&x);
	ok(!x.resident, "closed");
	o.resident_pattern = NULL;
	end();
}

int main(void)
{
	test_collections();
	test_ends();
	test_pending();
	test_resident();
	return tap_done();
}
