// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the rows of overhead that `doctor` shows if it measures nothing: each probe has at least
 * one, and says why it has no value.
 */
#include <string.h>

#include "probe/live_load.h"
#include "session/calibrate.h"
#include "tap.h"

static struct live live;
static const char *forced[HOOKS_MAX];

/* Returns the number of rows of a probe, and the first of them in *ret. */
static size_t rows_of(const struct calibration *c, const char *hook, const struct cost **ret)
{
	static const struct cost none;
	size_t n = 0;

	*ret = &none;
	for (size_t i = c->rows; i--;)
		if (!strcmp(c->row[i].hook, hook)) {
			*ret = &c->row[i].cost;
			n++;
		}
	return n;
}

static void test_rows(void)
{
	struct calibration c;
	const struct cost *cost;
	size_t at = 0;

	memset(&c, 0xff, sizeof(c));
	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
	for (size_t h = 0; h < nr_hooks; h++)
		live.choice.status[h].state = HOOK_ON;
	calibrate_not(&c, &live.src, "not today");
	for (size_t h = 0; h < nr_hooks; h++) {
		size_t rows = rows_of(&c, hooks[h].name, &cost);

		ok(rows == (strcmp(hooks[h].name, "calls") ? 1 : 3), "%s: %zu rows", hooks[h].name,
		   rows);
		ok(!strcmp(c.row[at].hook, hooks[h].name), "in the order of the probes");
		at += rows;
		if (hooks[h].unmeasured.why) {
			is_str(cost->why, hooks[h].unmeasured.why, "why it is never measured");
			is_str(cost->per, hooks[h].unmeasured.per, "its event");
			is_str(cost->said, hooks[h].unmeasured.said, "its event in words");
		} else {
			is_str(cost->why, "not today", "why it is not measured now");
			ok(!cost->measured && *cost->per && *cost->said, "its event");
		}
	}
	is_u64(c.rows, at, "all rows");
	ok(!c.done && !c.rounds && !c.seconds, "nothing was measured");
}

/* The operations of each probe whose overhead is measured. */
static void test_operations(void)
{
	static const struct {
		const char *hook, *per, *said;
	} want[] = {
		{"scan", "process", "a process and scan"},
		{"lifecycle", "process", "a fork and exit"},
		{"fault_begin", "fault", "a fault"},
		{"fault_kernel", "kernel_fault", "a fault in a user copy"},
		{"signal", "signal", "a signal"},
		{"map_area", "mapping_call", "a mapping call"},
		{"fault_end", "fault", "a fault"},
		{"fault_class", "fault", "a fault"},
		{"mmap_lock", "mapping_call", "a mapping call"},
		{"calls", "mapping_call", "a mapping call"},
		{"calls", "fd_call", "an fd call"},
		{"calls", "other_call", "any other system call"},
	};
	struct calibration c;
	size_t n = 0;

	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
	for (size_t h = 0; h < nr_hooks; h++)
		live.choice.status[h].state = HOOK_ON;
	calibrate_not(&c, &live.src, "not today");
	for (size_t i = 0; i < c.rows; i++) {
		if (c.row[i].work < 0) {
			ok(hooks[hook_find(c.row[i].hook)].unmeasured.why != NULL,
			   "%s is not measured", c.row[i].hook);
			continue;
		}
		if (!ok(n < sizeof(want) / sizeof(want[0]), "a row that is wanted"))
			return;
		is_u64(c.row[i].work, n, "its number");
		is_str(c.row[i].hook, want[n].hook, "its probe");
		is_str(c.row[i].cost.per, want[n].per, "its operation");
		is_str(c.row[i].cost.said, want[n].said, "in words");
		n++;
	}
	is_u64(n, sizeof(want) / sizeof(want[0]), "all rows");
}

/* A probe that is not attached says so, whether or not its overhead can be measured. */
static void test_states(void)
{
	struct calibration c;
	const struct cost *cost;

	choice_begin(&live.choice, TIER_ALL, false, 0, forced);
	live.choice.status[hook_find("signal")].state = HOOK_BLIND;
	live.choice.status[hook_find("oom")].state = HOOK_BLIND;
	live.choice.status[hook_find("fault_end")].state = HOOK_OFF;
	live.choice.status[hook_find("cgroup")].state = HOOK_OFF;
	calibrate_not(&c, &live.src, "not today");
	rows_of(&c, "signal", &cost);
	is_str(cost->why, "not measured: unavailable", "a probe that is unavailable");
	is_str(cost->per, "signal", "its event");
	rows_of(&c, "oom", &cost);
	is_str(cost->why, "not measured: unavailable", "one that is never measured");
	rows_of(&c, "fault_end", &cost);
	is_str(cost->why, "not measured: off", "a probe that is off");
	is_str(cost->per, "fault", "its event");
	rows_of(&c, "cgroup", &cost);
	is_str(cost->why, "not measured: off", "one that is never measured");
}

static void test_events(void)
{
	static const char *const events[] = {"fault", "getppid", "mmap", "open", "signal"};
	struct calibration c;

	calibrate_not(&c, &live.src, "not today");
	is_u64(c.overheads, 10, "events, each in two processes");
	for (size_t i = 0; i < c.overheads; i++) {
		is_str(c.overhead[i].event, events[i / 2], "the event");
		is_str(c.overhead[i].cost.per, events[i / 2], "its name");
		ok(c.overhead[i].title && *c.overhead[i].title, "its title");
		is_u64(c.overhead[i].watched, !(i & 1), "the watched process first");
		is_str(c.overhead[i].cost.said,
		       i & 1 ? "in another process" : "in the watched process", "where it occurs");
		is_str(c.overhead[i].cost.why, "not today", "why it is not measured");
		ok(!c.overhead[i].cost.measured, "not measured");
	}
}

int main(void)
{
	test_rows();
	test_operations();
	test_states();
	test_events();
	return tap_done();
}
