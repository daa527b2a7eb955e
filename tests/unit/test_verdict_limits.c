// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests triage of logs with more reports, suspects and functions than it keeps, and of reports
 * whose distance in time or lines decides whether one is a consequence of the other.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "tap.h"
#include "triage/report_pages.h"
#include "triage/triage.h"

#define OOPS	"BUG: kernel NULL pointer dereference, address: 0000000000000018\n"
#define IP	"RIP: 0010:widget_reset+0x14/0x40\n"
#define SLEEPS	"BUG: sleeping function called from invalid context at mm/slab.h:401\n"
#define OVERRUN "BUG: stack guard page was hit at 00000000deadbeef (stack is 0..0)\n"

static void run(struct triage *t, const struct buf *b)
{
	struct triage_input in = {.name = "log", .data = b->s, .size = b->len};

	if (b->failed || triage_run(t, &in, 1))
		abort();
}

/* ---- consequences ---- */

static void test_lines_after(void)
{
	for (int lines = 198; lines <= 200; lines++) {
		struct buf b = {};
		struct triage t;

		buf_printf(&b, OOPS);
		for (int i = 1; i < lines; i++)
			buf_printf(&b, "other text %d\n", i);
		buf_printf(&b, SLEEPS);
		run(&t, &b);
		ok(t.seen.n == 2 && t.seen.event[1].consequence == (lines < 200) &&
			   t.verdicts == (lines < 200 ? 1 : 2),
		   "without times, a report %d lines after an oops", lines);
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_seconds_after(void)
{
	static const struct {
		const char *first, *second;
		bool consequence;
	} rows[] = {
		{"1.000000", "61.000000", true},
		{"1.000000", "61.000001", false},
		{"1.000000", "1.000000", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};
		struct triage t;

		buf_printf(&b, "[%s] " OOPS "[%s] " SLEEPS, rows[i].first, rows[i].second);
		run(&t, &b);
		ok(t.seen.n == 2 && t.seen.event[1].consequence == rows[i].consequence,
		   "an oops after %s s, and a report after %s s", rows[i].first, rows[i].second);
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_numbers(void)
{
	static const struct {
		const char *second;
		bool consequence;
		const char *name;
	} rows[] = {
		{"Oops: 0002 [#2] SMP\n", true, "a second oops"},
		{"Oops: 0002 [#1] SMP\n", false, "the first oops of another boot"},
		{"CPU: 0 PID: 9 Comm: x Tainted: G      D    6.1.0 #1\n", true,
		 "a fault after the kernel died (taint D)"},
		{"CPU: 0 PID: 9 Comm: x Tainted: G           6.1.0 #1\n", false, "another fault"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};
		struct triage t;

		buf_printf(&b, "%s%s%s---[ end trace 0000000000000000 ]---\n%s%s%s", OOPS,
			   "Oops: 0002 [#1] SMP\n", IP, OOPS, rows[i].second, IP);
		run(&t, &b);
		ok(t.seen.n == 2 && t.seen.event[1].consequence == rows[i].consequence, "%s",
		   rows[i].name);
		triage_free(&t);
		buf_free(&b);
	}
}

/* ---- how much is kept ---- */

static void test_notices(void)
{
	for (uint32_t n = 3; n <= 6; n++) {
		struct buf b = {};
		struct triage t;

		for (uint32_t i = 0; i < n; i++)
			buf_printf(&b, "[%u.000000] tool%u invoked oom-killer: gfp_mask=0xcc0\n",
				   100 + 61 * i, i);
		run(&t, &b);
		ok(!t.verdicts && t.primary == -1 &&
			   t.notices == (n < NOTICES_MAX ? n : NOTICES_MAX),
		   "%u reports of the OOM killer: %u diagnoses", n, t.notices);
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_oom_again(void)
{
	struct buf b = {};
	struct triage t;

	for (int i = 0; i < 2; i++)
		buf_printf(&b, "[%d.000000] tool%d invoked oom-killer: gfp_mask=0xcc0\n",
			   100 + 60 * i, i);
	run(&t, &b);
	ok(t.seen.n == 2 && t.notices == 1, "a second kill within a minute belongs to the first");
	triage_free(&t);
	buf_free(&b);
}

static void test_precursors(void)
{
	for (uint32_t n = 11; n <= 13; n++) {
		struct buf b = {};
		struct triage t;

		for (uint32_t i = 0; i < n; i++)
			buf_printf(&b, "[%u.000000] EDAC MC0: 1 CE memory error on DIMM%u\n",
				   100 * i, i);
		buf_printf(&b, "[9999.500000] " OOPS);
		run(&t, &b);
		ok(t.verdicts == 1 && t.verdict[0].index == n &&
			   t.verdict[0].precursors == (n < PRECURSORS_MAX ? n : PRECURSORS_MAX) &&
			   t.verdict[0].precursor[0].event == 0 &&
			   t.verdict[0].precursor[0].timed &&
			   t.verdict[0].precursor[1].before == 9899.5,
		   "%u errors of the memory before an oops: %u are kept", n,
		   t.verdict[0].precursors);
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_verdicts(void)
{
	for (uint32_t n = 31; n <= 33; n++) {
		struct buf b = {};
		struct triage t;

		for (uint32_t i = 0; i < n; i++)
			buf_printf(&b, "[%u.000000] kernel BUG at mm/a%u.c:3!\n", 100 * i, i);
		run(&t, &b);
		ok(t.verdicts == (n < DIAGNOSES_MAX ? n : DIAGNOSES_MAX) &&
			   t.lost_verdicts == n - t.verdicts,
		   "%u crashes: %u diagnoses", n, t.verdicts);
		ok(t.primary == 0, "of equal crashes, the first is the most important one");
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_suspects(void)
{
	for (uint32_t n = 5; n <= 7; n++) {
		struct buf b = {};
		struct triage t;
		const struct diagnosis *v;

		buf_printf(&b, OOPS "RIP: 0010:f0+0x1/0x2 [m0]\nCall Trace:\n");
		for (uint32_t i = 1; i < n; i++)
			buf_printf(&b, " f%u+0x1/0x2 [m%u]\n", i, i);
		run(&t, &b);
		v = &t.verdict[0];
		ok(v->suspects == (n < SUSPECTS_MAX ? n : SUSPECTS_MAX) &&
			   str_is(v->suspect[0].module, "m0") && v->suspect[0].points == 100 &&
			   str_is(v->suspect[1].module, "m1") && v->suspect[1].points == 42,
		   "%u modules in a trace: %u suspects", n, v->suspects);
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_functions(void)
{
	for (uint32_t n = 11; n <= 13; n++) {
		struct buf b = {};
		struct triage t;
		const struct diagnosis *v;

		buf_printf(&b, OOPS "RIP: 0010:f0+0x1/0x2 [m]\nCall Trace:\n");
		for (uint32_t i = 1; i < n; i++)
			buf_printf(&b, " f%u+0x1/0x2 [m]\n", i);
		run(&t, &b);
		v = &t.verdict[0];
		ok(v->functions == (n < FUNCTIONS_MAX ? n : FUNCTIONS_MAX) &&
			   str_is(v->function[0], "f0") && str_is(v->function[10], "f10"),
		   "%u functions in a trace: %u are kept", n, v->functions);
		triage_free(&t);
		buf_free(&b);
	}
}

/* A recursion that begins behind the first 64 frames is not looked for. */
static void test_repeats(void)
{
	for (int before = 62; before <= 64; before++) {
		struct buf b = {};
		struct triage t;

		buf_printf(&b, OVERRUN "Call Trace:\n");
		for (int i = 0; i < before; i++)
			buf_printf(&b, " f%d+0x1/0x2 [m]\n", i);
		for (int i = 0; i < 3; i++)
			buf_printf(&b, " again+0x1/0x2 [m]\n");
		run(&t, &b);
		ok(t.verdicts == 1 &&
			   t.verdict[0].mechanism ==
				   (before < 64 ? MECH_RECURSION : MECH_STACK_OVERFLOW) &&
			   t.verdict[0].repeats == (before < 64 ? 3 : 1),
		   "a recursion below %d other functions", before);
		triage_free(&t);
		buf_free(&b);
	}
}

static void test_depths(void)
{
	for (uint32_t times = 2; times <= 3; times++) {
		struct buf b = {};
		struct triage t;

		buf_printf(&b, OVERRUN "Call Trace:\n f+0x1/0x2 [m]\n");
		for (uint32_t i = 0; i < times; i++)
			buf_printf(&b, " again+0x1/0x2 [m]\n");
		run(&t, &b);
		ok(t.verdict[0].repeats == times &&
			   t.verdict[0].mechanism ==
				   (times < 3 ? MECH_STACK_OVERFLOW : MECH_RECURSION),
		   "a function that is %u times in the trace", times);
		triage_free(&t);
		buf_free(&b);
	}
}

/* ---- suspects by name ---- */

/* Returns the points of a module; -1: it is no suspect. */
static int points_of(const struct diagnosis *v, const char *module)
{
	for (uint32_t i = 0; i < v->suspects; i++)
		if (str_is(v->suspect[i].module, module))
			return v->suspect[i].points;
	return -1;
}

static void test_names(void)
{
	static const struct {
		const char *log, *module;
		int points;
		const char *name;
	} rows[] = {
		{"WARNING: CPU: 1 PID: 2 at net/sched/sch_generic.c:3 dev_watchdog+0x1/0x2\n"
		 "NETDEV WATCHDOG: eth0 (e): transmit queue 0 timed out\n",
		 "e", 85, "a driver with a name of one letter"},
		{"WARNING: CPU: 1 PID: 2 at net/sched/sch_generic.c:3 dev_watchdog+0x1/0x2\n"
		 "NETDEV WATCHDOG: eth0 (): transmit queue 0 timed out\n",
		 "", -1, "a device without a driver"},
		{OOPS "Workqueue: events widget_work [w]\n" IP, "w", 65,
		 "a work item of a module with a name of one letter"},
		{OOPS "Workqueue: events widget_work []\n" IP, "", -1, "a work item of no module"},
		{OOPS
		 "CPU: 1 PID: 2 Comm: abc_wq Not tainted 6.1.0 #1\nModules linked in: abc\n" IP,
		 "abc", 40, "a task named after a module of three letters"},
		{OOPS "CPU: 1 PID: 2 Comm: ab_wq Not tainted 6.1.0 #1\nModules linked in: ab\n" IP,
		 "ab", -1, "two letters are no name"},
		{OOPS "CPU: 1 PID: 2 Comm: abc Not tainted 6.1.0 #1\nModules linked in: abc\n" IP,
		 "abc", 40, "a task with the very name of a module"},
		{OOPS "CPU: 1 PID: 2 Comm: ab Not tainted 6.1.0 #1\nModules linked in: abc\n" IP,
		 "abc", -1, "a task with a part of the name"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};
		struct triage t;
		int points;

		buf_printf(&b, "%s", rows[i].log);
		run(&t, &b);
		points = t.verdicts ? points_of(&t.verdict[0], rows[i].module) : -2;
		if (!ok(points == rows[i].points, "%s", rows[i].name))
			printf("#   got %d points, want %d\n", points, rows[i].points);
		triage_free(&t);
		buf_free(&b);
	}
}

/* The name of the module that was unloaded last, if the line ends within it. */
static void test_cut_names(void)
{
	static const struct {
		const char *name, *log, *module;
		bool cut;
	} rows[] = {
		{"a whole name", OOPS IP "Modules linked in: a [last unloaded: wid]\n", "wid",
		 false},
		{"a cut name", OOPS IP "Modules linked in: a [last unloaded: wid\n", "wid", true},
		{"a cut name, and a line of the module",
		 "widget: ready\n" OOPS IP "Modules linked in: a [last unloaded: wid\n", "widget",
		 false},
		{"a cut name, and two lines of the module",
		 "widget: ready\nwidget: ready\n" OOPS IP
		 "Modules linked in: a [last unloaded: wid\n",
		 "widget", false},
		{"a cut name, and lines of two modules",
		 "widget: ready\nwidow: ready\n" OOPS IP
		 "Modules linked in: a [last unloaded: wid\n",
		 "wid", true},
		{"a cut name, and a line with this very word",
		 "wid: ready\n" OOPS IP "Modules linked in: a [last unloaded: wid\n", "wid", true},
		{"a cut name, and a module of the list",
		 OOPS IP "Modules linked in: widget2 [last unloaded: wid\n", "widget2", false},
		{"a cut name, and a module of the trace",
		 OOPS IP "Call Trace:\n f+0x1/0x2 [widget3]\n"
			 "Modules linked in: a [last unloaded: wid\n",
		 "widget3", false},
		{"a cut name, and a last line without a speaker",
		 OOPS IP "Modules linked in: a [last unloaded: wid\nwidget\n", "wid", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct suspect *s = NULL;
		struct buf b = {};
		struct triage t;

		buf_printf(&b, "%s", rows[i].log);
		run(&t, &b);
		for (uint32_t k = 0; t.verdicts && k < t.verdict[0].suspects; k++)
			if (str_is(t.verdict[0].suspect[k].module, rows[i].module))
				s = &t.verdict[0].suspect[k];
		ok(s && s->cut == rows[i].cut, "%s: %s", rows[i].name, rows[i].module);
		triage_free(&t);
		buf_free(&b);
	}
}

/* What an interrupt interrupted has nothing to do with a fault, but with a hang. */
static void test_interrupted(void)
{
	static const struct {
		const char *name, *begin;
		int points;
	} rows[] = {
		{"a fault", OOPS, 10},
		{"a hang", "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [tool:77]\n", 42},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {};
		struct triage t;
		int points = -1;

		buf_printf(&b,
			   "%sRIP: 0010:f+0x1/0x2\nCall Trace:\n g+0x1/0x2\n"
			   " asm_sysvec_apic_timer_interrupt+0x1/0x2\n h+0x1/0x2\n k+0x1/0x2 [m]\n",
			   rows[i].begin);
		run(&t, &b);
		for (uint32_t k = 0; k < t.verdict[0].suspects; k++)
			for (uint32_t r = 0; r < t.verdict[0].suspect[k].reasons; r++)
				if (!strcmp(t.verdict[0].suspect[k].reason[r].why,
					    "it is in the trace"))
					points = t.verdict[0].suspect[k].reason[r].points;
		if (!ok(points == rows[i].points, "%s", rows[i].name))
			printf("#   got %d points\n", points);
		triage_free(&t);
		buf_free(&b);
	}
}

/* ---- buckets and pages ---- */

static void test_buckets(void)
{
	char longest[400] = "";
	struct buf b = {};
	struct triage t;

	buf_printf(&b, OOPS "RIP: 0010:<a::B as c::D>::e+0x1/0x2 [m]\n");
	run(&t, &b);
	is_str(t.verdict[0].bucket, "FS_NULL_DEREF_m!<a::Basc::D>::e", "a bucket has no blanks");
	triage_free(&t);
	buf_free(&b);

	memset(longest, 'f', 300);
	buf_printf(&b, OOPS "RIP: 0010:%s+0x1/0x2 [m]\n", longest);
	run(&t, &b);
	ok(strlen(t.verdict[0].bucket) == sizeof(t.verdict[0].bucket) - 1 &&
		   !strncmp(t.verdict[0].bucket, "FS_NULL_DEREF_m!fff", 19),
	   "a bucket's name is cut to its size");
	triage_free(&t);
	buf_free(&b);
}

static void test_pages(void)
{
	ok(report_page_exists("K26"), "a page about reports");
	ok(!report_page_exists("K99") && !report_page_exists(""), "no such page");
}

int main(void)
{
	test_lines_after();
	test_seconds_after();
	test_numbers();
	test_notices();
	test_oom_again();
	test_precursors();
	test_verdicts();
	test_suspects();
	test_functions();
	test_repeats();
	test_depths();
	test_names();
	test_cut_names();
	test_interrupted();
	test_buckets();
	test_pages();
	return tap_done();
}
