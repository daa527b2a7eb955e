// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the values of phases that a program names while it runs. */
#include <errno.h>

#include "fixture.h"
#include "model/phases.h"
#include "rules/gates.h"
#include "tap.h"

#define PAGE 4096

static struct model m;
static uint64_t t_ns;

/* Begins a measurement with a process, whose values are those before any phase. */
static struct process_record begin(void)
{
	struct process_record r = process_record(10, 1, SECOND);
	struct tick_record tick = tick_record(SECOND);

	model_free(&m);
	model_init(&m);
	t_ns = SECOND;
	r.g.rss_anon_pages = 1000;
	r.g.min_flt = 50;
	model_take(&m, &r.h);
	model_take(&m, &tick.h);
	model_next_window(&m);
	return r;
}

/* Scans: takes the records of the processes that changed, and the tick. */
static void scan(struct process_record *r, size_t n)
{
	struct tick_record tick = tick_record(t_ns += SECOND);

	for (size_t i = 0; i < n; i++) {
		r[i].h.t_ns = t_ns;
		model_take(&m, &r[i].h);
	}
	model_take(&m, &tick.h);
	model_next_window(&m);
}

static void mark(const char *name)
{
	struct phase_record r = RECORD(phase_record, RECORD_PHASE, t_ns);

	snprintf(r.name, sizeof(r.name), "%s", name);
	model_take(&m, &r.h);
}

static uint64_t value(size_t nth, const char *name)
{
	for (size_t i = 0; i < NR_PHASE_VALUES; i++)
		if (!strcmp(phase_values[i].name, name))
			return phase_values[i].get(&m.phases->phase[nth]);
	return 4711;
}

static void test_changes(void)
{
	struct process_record r = begin();

	ok(!m.phases, "without a mark, there are no phases");
	r.g.min_flt = 60;
	scan(&r, 1);
	mark("one");
	r.g.min_flt = 75;
	r.g.maj_flt = 2;
	r.g.rss_anon_pages = 1300;
	r.g.fds = r.g.fd_high = 9;
	scan(&r, 1);
	mark("two");
	r.g.rss_anon_pages = 1100;
	r.g.fds = 7;
	scan(&r, 1);
	is_u64(value(0, "phase.minor_faults"), 15, "faults of the phase alone");
	is_u64(value(0, "phase.major_faults"), 2, "major faults");
	is_u64(value(0, "phase.rss.kept"), 300 * PAGE, "memory that remained");
	is_u64(value(0, "phase.rss.peak"), 1300 * PAGE, "peak of the memory");
	is_u64(value(0, "phase.fds.kept"), 5, "fds that remained");
	is_u64(value(1, "phase.minor_faults"), 0, "the next phase has faults of its own");
	is_u64(value(1, "phase.rss.kept"), 0, "less memory than before is none that remained");
	is_u64(value(1, "phase.rss.peak"), 1300 * PAGE, "what was there at its start is a peak");
	is_u64(phase_duration_ns(&m.phases->phase[1]), SECOND, "a phase lasts to the last scan");
	is_u64(value(0, "phase.failed_calls"), FIGURE_UNKNOWN, "not counted without the probe");
}

static void test_peaks(void)
{
	struct process_record r = begin();

	r.g.map_high = 5000;
	r.g.fd_high = 600;
	scan(&r, 1);
	mark("one");
	r.g.min_flt++;
	scan(&r, 1);
	is_u64(value(0, "phase.maps.peak"), 100, "a peak before the phase is not its peak");
	is_u64(value(0, "phase.fds.peak"), 4, "neither is one of fds");
	r.g.map_high = 5500;
	r.g.fd_high = 700;
	scan(&r, 1);
	is_u64(value(0, "phase.maps.peak"), 5500, "a peak between two scans counts");
	is_u64(value(0, "phase.fds.peak"), 700, "one of fds too");
	mark("two");
	r.g.min_flt++;
	scan(&r, 1);
	is_u64(value(1, "phase.maps.peak"), 100, "and belongs to that phase alone");
	is_u64(value(1, "phase.maps.kept"), 0, "no mapping remained");
}

static void test_processes(void)
{
	struct process_record r[3] = {begin(), process_record(11, 2, 0), process_record(12, 3, 0)};

	r[1].g.flags = r[2].g.flags = PROC_BORN;
	r[1].g.rss_anon_pages = 500;
	r[1].g.min_flt = 30;
	r[2].g.flags |= PROC_SHARES_MM;
	r[2].g.rss_anon_pages = 1000;
	mark("one");
	scan(r, 3);
	is_u64(value(0, "phase.rss.peak"), 1500 * PAGE, "vfork's child has no memory of its own");
	is_u64(value(0, "phase.fds.kept"), 8, "but has fds");
	r[1].g.flags |= PROC_FINAL | PROC_NO_MM;
	r[1].g.min_flt = 40;
	r[2].g.flags |= PROC_FINAL;
	scan(r, 3);
	mark("two");
	scan(r, 1);
	is_u64(value(0, "phase.minor_faults"), 40, "faults of ended processes count");
	is_u64(value(0, "phase.rss.kept"), 0, "their memory does not remain");
	is_u64(value(0, "phase.fds.kept"), 0, "nor do their fds");
	is_u64(value(1, "phase.minor_faults"), 0, "the next phase does not count them again");
}

static void test_marks(void)
{
	struct process_record r = begin();
	char name[20];

	mark("");
	is_u64(m.phases->n, 0, "an empty mark begins no phase");
	mark("one");
	mark("");
	r.g.min_flt += 10;
	scan(&r, 1);
	is_u64(value(0, "phase.minor_faults"), 0, "between phases, nothing counts");
	ok(!m.phases->runs, "no phase runs");
	for (int i = 1; i < PHASES_MAX + 3; i++) {
		snprintf(name, sizeof(name), "phase %d", i);
		mark(name);
	}
	is_u64(m.phases->n, PHASES_MAX, "the number of phases is limited");
	is_u64(m.phases->missed, 3, "and those beyond it are counted");
	r.g.min_flt += 10;
	scan(&r, 1);
	is_u64(value(PHASES_MAX - 1, "phase.minor_faults"), 0,
	       "what belongs to a phase beyond the limit counts for no other");
}

static void test_gates(void)
{
	struct process_record r = begin();
	struct findings fs = {};
	struct gates g = {};
	char error[400];

	is_u64(gates_parse(&g,
			   "phase.fds.kept>3,phase.fds.kept>5,phase.fds.peak<5,"
			   "phase.failed_calls>0,phase.rss.peak>1M",
			   error, sizeof(error)),
	       0, "conditions on phases");
	gates_judge(&g, &m, &fs);
	is_u64(g.gate[0].state, GATE_NOT_MEASURED, "without a phase, nothing is measured");
	mark("calm");
	scan(&r, 1);
	mark("leaks");
	r.g.fds = r.g.fd_high = 9;
	scan(&r, 1);
	gates_judge(&g, &m, &fs);
	is_u64(g.gate[0].state, GATE_TRIPPED, "a phase beyond the threshold");
	ok(g.gate[0].phase && !strcmp(g.gate[0].phase->name, "leaks"), "its name");
	ok(g.gate[0].value == 5, "its value");
	is_u64(g.gate[1].state, GATE_PASSED, "no phase beyond the threshold");
	is_u64(g.gate[2].state, GATE_TRIPPED, "one phase of several is enough");
	ok(g.gate[2].phase && !strcmp(g.gate[2].phase->name, "calm"), "the lowest one for <");
	is_u64(g.gate[3].state, GATE_NOT_MEASURED, "a value that is not measured");
	is_u64(g.gate[4].state, GATE_TRIPPED, "a size with a suffix");
	is_u64(g.failed, 4, "number of failed gates");
	ok(gates_parse(&g, "phase.fds.kept>5%", error, sizeof(error)) == -EINVAL,
	   "a percentage needs a limit");
}

int main(void)
{
	test_changes();
	test_peaks();
	test_processes();
	test_marks();
	test_gates();
	model_free(&m);
	return tap_done();
}
