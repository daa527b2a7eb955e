// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the costs of probes: rates of the last interval, and when they are not known. */
#include "fixture.h"
#include "model/probe_costs.h"
#include "tap.h"

static struct model m;

static void scan(uint64_t second, const char *name, uint64_t runs, uint64_t run_ns)
{
	struct probe_cost_record r =
		RECORD(probe_cost_record, RECORD_PROBE_COST, second * SECOND);
	struct tick_record tick = tick_record(second * SECOND);

	snprintf(r.name, sizeof(r.name), "%s", name);
	r.runs = runs;
	r.run_ns = run_ns;
	if (*name)
		is_u64(model_take(&m, &r.h), 0, "a cost");
	model_take(&m, &tick.h);
	model_next_window(&m);
}

static void test_rates(void)
{
	struct probe_rate rate;

	begin_model(&m, NULL);
	ok(!probe_rate(&m, "signal", &rate), "no probe was measured");
	scan(1, "signal", 100, 5000);
	ok(!probe_rate(&m, "signal", &rate), "one scan is not enough");
	scan(3, "signal", 400, 20000005000);
	ok(probe_rate(&m, "signal", &rate), "two are");
	is_u64(rate.events, 150, "events in a second");
	is_u64(rate.ns, 66666666, "ns for an event");
	is_u64(rate.share * 100, 1000, "ten CPUs");
	ok(!probe_rate(&m, "oom", &rate), "another probe");
	scan(4, "signal", 400, 20000005000);
	ok(probe_rate(&m, "signal", &rate) && !rate.events && !rate.ns && !rate.share, "no event");
	scan(5, "", 0, 0);
	ok(!probe_rate(&m, "signal", &rate), "the kernel no longer counts");
	scan(6, "signal", 10, 20);
	ok(!probe_rate(&m, "signal", &rate), "programs that were loaded anew");
	model_free(&m);
}

/* A rate needs two scans at different times, and totals that do not fall. */
static void test_no_rate(void)
{
	struct probe_cost_record r = RECORD(probe_cost_record, RECORD_PROBE_COST, 3 * SECOND);
	struct probe_rate rate;

	strcpy(r.name, "oom");
	begin_model(&m, NULL);
	scan(1, "oom", 100, 5000);
	scan(2, "oom", 100, 5000);
	ok(probe_rate(&m, "oom", &rate), "equal totals: no event");
	scan(3, "oom", 101, 4999);
	ok(!probe_rate(&m, "oom", &rate), "more runs in less time");
	scan(4, "oom", 100, 6000);
	ok(!probe_rate(&m, "oom", &rate), "fewer runs in more time");
	scan(5, "oom", 100, 6000);
	r.h.t_ns = 5 * SECOND;
	r.runs = 200;
	r.run_ns = 7000;
	is_u64(model_take(&m, &r.h), 0, "another record of the same scan");
	ok(!probe_rate(&m, "oom", &rate), "no time between two records");
	model_free(&m);
}

static void test_many(void)
{
	struct probe_costs p = {};
	struct probe_cost_record r = {.runs = 1};

	for (int i = 0; i < 2 * PROBE_COSTS_MAX; i++) {
		snprintf(r.name, sizeof(r.name), "probe%d", i);
		probe_costs_take(&p, &r);
	}
	is_u64(p.n, PROBE_COSTS_MAX, "no more than there is room for");
	is_str(p.cost[0].name, "probe0", "the first ones");
	snprintf(r.name, sizeof(r.name), "probe%d", PROBE_COSTS_MAX - 1);
	r.runs = 9;
	probe_costs_take(&p, &r);
	ok(p.cost[PROBE_COSTS_MAX - 1].runs == 9 && p.cost[PROBE_COSTS_MAX - 1].prev_runs == 1,
	   "and the last of them, again");
	memset(r.name, 'x', sizeof(r.name));
	p.n--;
	probe_costs_take(&p, &r);
	is_u64(strlen(p.cost[p.n - 1].name), sizeof(r.name) - 1, "a name without an end");
}

int main(void)
{
	test_rates();
	test_no_rate();
	test_many();
	return tap_done();
}
