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

static void test_many(void)
{
	struct probe_costs p = {};
	struct probe_cost_record r = {.runs = 1};

	for (int i = 0; i < 2 * PROBE_COSTS_MAX; i++) {
		snprintf(r.name, sizeof(r.name), "probe%d", i);
		probe_costs_take(&p, &r);
	}
	is_u64(p.n, PROBE_COSTS_MAX, "no more than there is room for");
	memset(r.name, 'x', sizeof(r.name));
	p.n--;
	probe_costs_take(&p, &r);
	is_u64(strlen(p.cost[p.n - 1].name), sizeof(r.name) - 1, "a name without an end");
}

int main(void)
{
	test_rates();
	test_many();
	return tap_done();
}
