// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the report of `doctor`: what it says about probes that are on, off or unavailable, about
 * the first scan, and about measured costs.
 */
#include <stdlib.h>

#include "fixture.h"
#include "probe/host_facts.h"
#include "probe/kernel_memory.h"
#include "probe/live_load.h"
#include "session/doctor_facts.h"
#include "tap.h"

static struct live live;
static struct report r;
static struct options o;
static const char *forced[HOOKS_MAX];

static void begin(void)
{
	memset(&live, 0, sizeof(live));
	memset(&r, 0, sizeof(r));
	memset(&o, 0, sizeof(o));
	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
}

static struct hook_status *status(const char *hook)
{
	return &live.choice.status[hook_find(hook)];
}

static const struct report_hook *reported(const char *hook)
{
	return &r.hook[hook_find(hook)];
}

/* Attaches an attach type of a probe. */
static void attach(const char *hook, size_t alternate)
{
	status(hook)->state = HOOK_ON;
	status(hook)->used = &hooks[hook_find(hook)].alternate[alternate];
}

static void test_probes(void)
{
	const struct report_hook *scan;

	begin();
	attach("scan", 2);
	attach("lifecycle", 0);
	status("signal")->state = HOOK_BLIND;
	strcpy(status("signal")->why, "tp_btf: EPERM");
	status("signal")->remedy = "sysctl -w a=b";
	doctor_fill_hooks(&r, &o, &live.src);
	is_u64(r.hooks, nr_hooks, "all probes");
	scan = reported("scan");
	is_str(scan->name, "scan", "its name");
	is_u64(scan->tier, 0, "its overhead level");
	is_str(scan->mechanism, "/proc", "the attach type in use");
	ok(scan->note && scan->note == hooks[hook_find("scan")].alternate[2].differs,
	   "what it cannot do");
	ok(scan->core && scan->degraded, "the last attach type of a core probe");
	is_str(scan->alternate[0].mechanism, "task-iterator", "its attach types");
	is_str(scan->alternate[1].mechanism, "iter/task", "the second");
	ok(!scan->alternate[3].mechanism && scan->alternate[2].differs == scan->note, "the last");
	ok(scan->feeds && *scan->feeds && scan->lost && *scan->lost, "what it is for");
	is_str(reported("lifecycle")->note, NULL, "the best attach type lacks nothing");
	ok(!reported("lifecycle")->degraded, "and is not degraded");
	is_u64(reported("signal")->state, HOOK_BLIND, "a probe that is unavailable");
	is_str(reported("signal")->tried, "tp_btf: EPERM", "what was tried");
	is_str(reported("signal")->remedy, "sysctl -w a=b", "what may help");
	is_str(reported("signal")->mechanism, NULL, "it has no attach type");
}

static void test_remedies(void)
{
	begin();
	status("signal")->state = HOOK_BLIND;
	status("oom")->state = HOOK_OFF;
	status("calls")->state = HOOK_BLIND;
	o.forced[hook_find("calls")] = "none";
	attach("lifecycle", 0);
	o.forced[hook_find("lifecycle")] = "tp_btf";
	doctor_fill_hooks(&r, &o, &live.src);
	is_str(reported("signal")->remedy, NULL, "a probe that the kernel refuses");
	is_str(reported("oom")->remedy, "remove the --overhead option, or add this level to it",
	       "a probe of another overhead level");
	is_str(reported("calls")->remedy, "remove the --probe option for it",
	       "a probe that the user disabled");
	is_str(reported("lifecycle")->remedy, NULL, "a probe that works");
}

static void test_namespace(void)
{
	begin();
	live.nested = true;
	forced[hook_find("scan")] = "iter/task";
	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
	attach("scan", 1);
	attach("lifecycle", 0);
	doctor_fill_hooks(&r, &o, &live.src);
	forced[hook_find("scan")] = NULL;
	ok(reported("scan")->note && strstr(reported("scan")->note, "in a pid namespace, "),
	   "scans of a pid namespace alone");
	is_str(reported("lifecycle")->note, NULL, "other probes see all processes");
}

static void test_core(void)
{
	struct buf gaps = {};

	begin();
	doctor_fill_hooks(&r, &o, &live.src);
	for (size_t i = 0; i < r.hooks; i++)
		r.hook[i].state = HOOK_ON;
	ok(!doctor_lacks_core(&r), "all probes work");
	doctor_add_gaps(&gaps, &r);
	is_u64(gaps.len, 0, "nothing is missing");
	r.hook[hook_find("calls")].state = HOOK_BLIND;
	r.hook[hook_find("calls")].tried = "raw_tp: EPERM";
	ok(!doctor_lacks_core(&r), "a probe that is no core probe");
	r.hook[hook_find("scan")].state = HOOK_OFF;
	ok(!doctor_lacks_core(&r), "a core probe that is off");
	r.hook[hook_find("signal")].state = HOOK_BLIND;
	r.hook[hook_find("signal")].tried = "none: " SWITCHED_OFF;
	doctor_add_gaps(&gaps, &r);
	is_str(gaps.s, "not measured: calls (raw_tp: EPERM)\n", "what is missing");
	r.hook[hook_find("scan")].state = HOOK_BLIND;
	ok(doctor_lacks_core(&r), "a core probe that is unavailable");
	buf_free(&gaps);
}

static void test_scan(void)
{
	struct doctor_scan scan = {};
	struct process_record p = process_record(1, 1, SECOND);
	struct tick_record tick = tick_record(SECOND);
	struct names_record names = RECORD(names_record, RECORD_NAMES, SECOND);

	p.g.map_count = 50;
	is_u64(doctor_take_scan(&scan, &p.h), 0, "a process");
	p.g.map_count = 70;
	doctor_take_scan(&scan, &p.h);
	p.g.map_count = 60;
	doctor_take_scan(&scan, &p.h);
	p.g.map_count = 999;
	p.g.flags = PROC_NO_COUNT;
	doctor_take_scan(&scan, &p.h);
	doctor_take_scan(&scan, &names.h);
	tick.own_tables_bytes = 11;
	tick.own_state_bytes = 22;
	is_u64(doctor_take_scan(&scan, &tick.h), 0, "the end of the scan");
	is_u64(scan.processes, 4, "processes");
	is_u64(scan.map_count_high, 70, "the most mappings of those whose number is known");
	is_u64(scan.tables_bytes, 11, "memory of tables");
	is_u64(scan.state_bytes, 22, "memory of processes");
}

static const struct setting *highest(void)
{
	for (size_t i = 0; i < r.settings; i++)
		if (!strcmp(r.setting[i].key, "map_count_high"))
			return &r.setting[i];
	return NULL;
}

static void test_measured(void)
{
	struct doctor_scan scan = {
		.processes = 7, .map_count_high = 70, .tables_bytes = 11, .state_bytes = 22};
	struct calibration *c = calloc(1, sizeof(*c));

	begin();
	doctor_fill_hooks(&r, &o, &live.src);
	calibrate_not(c, &live.src, "not today");
	c->done = true;
	c->seconds = 0.5;
	c->rounds = 9;
	for (size_t i = 0; i < c->rows; i++)
		c->row[i].cost.median = i + 1;
	for (size_t i = 0; i < c->overheads; i++)
		c->overhead[i].cost.median = i + 100;
	doctor_fill_measured(&r, c, &scan);
	for (size_t i = 0, at = 0; i < r.hooks; i++) {
		is_u64(r.hook[i].costs, strcmp(r.hook[i].name, "calls") ? 1 : 3, r.hook[i].name);
		for (size_t k = 0; k < r.hook[i].costs; k++, at++)
			is_u64(r.hook[i].cost[k].median, at + 1, "its cost");
	}
	is_u64(r.overheads, c->overheads, "costs of events");
	for (size_t i = 0; i < r.overheads; i++)
		ok(r.overhead[i].cost.median == i + 100 &&
			   r.overhead[i].event == c->overhead[i].event &&
			   r.overhead[i].title == c->overhead[i].title &&
			   r.overhead[i].watched == c->overhead[i].watched,
		   "event %zu", i);
	is_u64(r.processes, 7, "processes");
	is_u64(r.tables_bytes, 11, "memory of tables");
	is_u64(r.state_bytes, 22, "memory of processes");
	is_u64(r.idle_bytes, kernel_memory_of_idle(), "memory of an idle process");
	ok(r.calibrated && r.seconds == 0.5 && r.rounds == 9, "how it was measured");
	ok(r.only_counted && r.only_counted[0], "calls that are only counted");
	ok(!r.passed_over == (host_kernel_major() < 7), "events that a new kernel skips");
	ok(highest() && highest()->known && highest()->value == 70, "the most mappings");
	is_str(highest()->of, "max_map_count", "of this limit");
	begin();
	r.settings = SETTINGS_MAX;
	for (size_t i = 0; i < r.settings; i++)
		r.setting[i].key = "x";
	scan.state_bytes = 0;
	doctor_fill_measured(&r, c, &scan);
	is_u64(r.settings, SETTINGS_MAX, "no room for the most mappings");
	is_u64(r.idle_bytes, 0, "memory that is not known");
	begin();
	scan.map_count_high = 0;
	doctor_fill_measured(&r, c, &scan);
	ok(highest() && !highest()->known, "no process whose mappings are known");
	free(c);
}

/* Only the probes of the report count, and not what is behind them. */
static void test_number_of_probes(void)
{
	static struct report few;
	struct calibration *c = calloc(1, sizeof(*c));
	struct doctor_scan scan = {};
	struct buf gaps = {};

	for (size_t i = 0; i < 3; i++)
		few.hook[i] = (struct report_hook){.name = "signal",
						   .tried = "EPERM",
						   .core = true,
						   .state = i == 1 ? HOOK_ON : HOOK_BLIND};
	few.hooks = 0;
	ok(!doctor_lacks_core(&few), "no probe");
	doctor_add_gaps(&gaps, &few);
	ok(!gaps.len, "no gap");
	few.hooks = 1;
	ok(doctor_lacks_core(&few), "the first probe is unavailable");
	doctor_add_gaps(&gaps, &few);
	is_str(gaps.s, "not measured: signal (EPERM)\n", "one gap");
	few.hook[0].state = HOOK_ON;
	few.hooks = 2;
	ok(!doctor_lacks_core(&few), "two probes that are on");
	few.hooks = 3;
	ok(doctor_lacks_core(&few), "the last one is unavailable");
	few.hook[2].core = false;
	ok(!doctor_lacks_core(&few), "but not needed");
	few.hooks = 2;
	c->rows = 2;
	c->row[0].hook = c->row[1].hook = c->row[2].hook = "signal";
	c->overheads = 1;
	doctor_fill_measured(&few, c, &scan);
	is_u64(few.hook[1].costs, 2, "costs of the last probe");
	is_u64(few.hook[2].costs, 0, "costs of what is behind it");
	is_u64(few.overheads, 1, "events");
	buf_free(&gaps);
	free(c);
}

int main(void)
{
	test_probes();
	test_remedies();
	test_namespace();
	test_core();
	test_scan();
	test_measured();
	test_number_of_probes();
	return tap_done();
}
