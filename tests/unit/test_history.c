// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "model/fields.h"
#include "model/history.h"
#include "model/pressure.h"
#include "tap.h"

static struct model m;
static struct history h;

static void look(struct process_record *p, size_t n, uint64_t t_ns)
{
	struct tick_record tick = tick_record(t_ns);

	for (size_t i = 0; i < n; i++) {
		p[i].h.t_ns = t_ns;
		model_take(&m, &p[i].h);
	}
	model_take(&m, &tick.h);
	if (history_add_scan(&h, &m))
		abort();
	model_next_window(&m);
}

static uint64_t sum_of_minor(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h.points; i++)
		n += h.point[i].minor;
	return n;
}

static uint64_t sum_of_row(const struct history_row *r)
{
	uint64_t n = 0;

	for (size_t i = 0; r && r->faults && i < h.points; i++)
		n += r->faults[i];
	return n;
}

static void begin(void)
{
	begin_model(&m, NULL);
	if (history_init(&h))
		abort();
}

static void end(void)
{
	history_free(&h);
	model_free(&m);
}

static size_t gauge_of(const char *field)
{
	for (size_t i = 0; i < h.gauges; i++)
		if (h.gauge[i] == field_find(field))
			return i;
	return HISTORY_GAUGES_MAX;
}

static void test_sums(void)
{
	struct process_record p[2] = {process_record(10, 1, 0), process_record(11, 2, 0)};
	const struct history_row *r;

	begin();
	p[0].g.flags = p[1].g.flags = PROC_BORN;
	look(p, 2, 2 * SECOND);
	p[0].g.min_flt = 100;
	p[0].c.latency[0][3] = 100;
	p[1].g.maj_flt = 7;
	look(p, 2, 3 * SECOND);
	p[1].g.min_flt = 5;
	p[1].g.flags |= PROC_FINAL;
	look(p + 1, 1, 4 * SECOND);
	is_u64(h.rows, 2, "a row a process");
	is_u64(h.points, 3, "a point a look");
	is_u64(h.point[1].minor, 100, "faults stand at the time they were taken");
	is_u64(h.point[1].major, 7, "of all processes");
	is_u64(h.point[1].latency[0][3], 100, "so does their latency");
	is_u64(h.point[2].minor, 5, "those of a last record too");
	is_u64(h.gauge_now[gauge_of("maps.count")], 100, "who ended holds nothing any more");
	is_u64(h.alive, 1, "and is not alive");
	r = history_find(&h, &p[1].subject);
	ok(r && r->final && history_field(r, FIELD(maj_flt)) == 7, "but its figures stay");
	ok(r && !strcmp(r->comm, "proc11"), "with its name");
	end();
}

/*
 * Tests more scans than the history has points. Points are merged, and the sums must stay complete.
 */
static void test_joined(void)
{
	struct process_record p = process_record(10, 1, 0);

	begin();
	p.g.flags = PROC_BORN;
	for (int i = 0; i < 5 * HISTORY_POINTS_MAX; i++) {
		p.g.min_flt = 3 * i;
		look(&p, 1, (2 + i) * SECOND);
	}
	ok(h.points <= HISTORY_POINTS_MAX && h.points > HISTORY_POINTS_MAX / 2 - 1,
	   "points stay bounded");
	is_u64(sum_of_minor(), 3 * (5 * HISTORY_POINTS_MAX - 1), "all faults are in them");
	is_u64(sum_of_row(history_find(&h, &p.subject)), sum_of_minor(), "by process too");
	is_u64(h.point[0].from_ns, 2 * SECOND, "from the first look");
	is_u64(h.point[h.points - 1].to_ns, (5 * HISTORY_POINTS_MAX + 1) * SECOND, "to the last");
	end();
}

/*
 * Tests more processes than the history has rows. Of the processes that have exited, those with few
 * faults are dropped.
 */
static void test_bounded(void)
{
	struct process_record busy = process_record(9, 1, 0), p;

	begin();
	busy.g.flags = PROC_BORN | PROC_FINAL;
	busy.g.min_flt = 1000;
	look(&busy, 1, 2 * SECOND);
	for (uint32_t i = 0; i < HISTORY_ROWS_MAX + 50; i++) {
		p = process_record(100 + i, 1, 0);
		p.g.flags = PROC_BORN | PROC_FINAL;
		p.g.min_flt = 1;
		look(&p, 1, (3 + i) * SECOND);
	}
	is_u64(h.rows, HISTORY_ROWS_MAX + 1, "rows stay bounded, one is of all that made room");
	is_u64(history_processes(&h), HISTORY_ROWS_MAX + 51, "all processes are counted");
	is_u64(history_ended(&h), HISTORY_ROWS_MAX + 51, "and that they ended");
	is_u64(history_total(&h, FIELD(min_flt)), 1000 + HISTORY_ROWS_MAX + 50,
	       "the sum over rows is that of all processes");
	is_u64(history_total(&h, FIELD(min_flt)), sum_of_minor(), "as over time");
	is_u64(h.others && h.row[h.others - 1].faults ? sum_of_row(&h.row[h.others - 1]) : 0, 51,
	       "those that made room are there over time too");
	is_u64(h.rows_lost, 51, "what made room is counted");
	ok(history_find(&h, &busy.subject), "and was not who faulted most");
	ok(history_find(&h, &p.subject), "nor who came last");
	end();
}

/* Tests more living processes than the history has rows. Each process gets a row and is counted. */
static void test_crowd(void)
{
	static struct process_record p[HISTORY_ROWS_MAX + 500];
	size_t n = sizeof(p) / sizeof(p[0]);

	begin();
	for (size_t i = 0; i < n; i++) {
		p[i] = process_record(100 + i, 1, 0);
		p[i].g.flags = PROC_BORN;
		p[i].g.min_flt = 3;
	}
	look(p, n, 2 * SECOND);
	for (size_t i = 0; i < n; i++)
		p[i].g.min_flt = 10;
	look(p, n, 3 * SECOND);
	is_u64(h.rows, n, "a row a process that lives");
	is_u64(h.alive, n, "all are alive");
	is_u64(h.rows_lost, 0, "none is left out");
	is_u64(history_total(&h, FIELD(min_flt)), 10 * n, "nor are their faults");
	is_u64(sum_of_minor(), 10 * n, "nor over time");
	end();
}

/* Tests that the history keeps events. It does not keep records of slow faults. */
static void test_events(void)
{
	struct slow_faults_record slow = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, SECOND);
	struct signal_record died = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	struct process_record p = process_record(10, 1, 0);

	begin();
	slow.subject = died.subject = p.subject;
	slow.count = 1;
	for (int i = 0; i < 3; i++)
		model_take(&m, &slow.h);
	model_take(&m, &died.h);
	look(&p, 1, 2 * SECOND);
	is_u64(h.events, 1, "one event");
	ok(h.event[0].h.kind == RECORD_SIGNAL, "the signal");
	is_u64(h.point[0].events, 1, "at its time");
	is_u64(h.events_lost, 0, "and none was left out");
	end();
}

static void read_cgroup(uint64_t used, uint64_t max, uint64_t high, uint64_t t_ns)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, t_ns);
	struct tick_record tick = tick_record(t_ns);

	strcpy(c.path, "/train");
	for (size_t i = 0; i < NR_CGROUP_FIGURES; i++)
		c.n[i] = FIGURE_UNKNOWN;
	c.n[CGROUP_USED] = used;
	c.n[CGROUP_LIMIT] = max;
	c.n[CGROUP_HIGH] = high;
	model_take(&m, &c.h);
	model_take(&m, &tick.h);
	if (history_add_scan(&h, &m))
		abort();
	model_next_window(&m);
}

static void test_cgroups_with_memory_high(void)
{
	const struct history_level *l;

	begin();
	read_cgroup(100, FIGURE_UNKNOWN, 700, 2 * SECOND);
	l = h.levels.level;
	ok(l && l->limit == 700 && l->high == 700, "memory.high in place of memory.max");
	read_cgroup(300, 1000, 700, 3 * SECOND);
	ok(l && l->limit == 1000 && l->high == 700, "both");
	end();
	begin();
	read_cgroup(300, FIGURE_UNKNOWN, FIGURE_UNKNOWN, 3 * SECOND);
	is_u64(h.levels.n, 0, "a cgroup without a limit");
	end();
}

static void test_cgroups(void)
{
	const struct history_level *l;

	begin();
	read_cgroup(100, 1000, FIGURE_UNKNOWN, 2 * SECOND);
	read_cgroup(300, 1000, FIGURE_UNKNOWN, 3 * SECOND);
	look(NULL, 0, 4 * SECOND);
	l = h.levels.level;
	is_u64(h.levels.n, 1, "one cgroup with a limit");
	ok(l && !strcmp(l->path, "/train") && l->limit == 1000, "its path and its limit");
	ok(l && l->used[0] == 100 && l->used[1] == 300, "its memory at each scan");
	ok(l && l->used[2] == UINT64_MAX, "nothing where it was not read");
	history_levels_halve(&h.levels);
	ok(l && l->used[0] == 300 && l->used[1] == UINT64_MAX, "joined points have the peak");
	ok(l && l->used[HISTORY_POINTS_MAX - 1] == UINT64_MAX, "and the second half is empty");
	end();
}

/* Events are kept up to a number, but those with totals of slow faults never are. */
static void test_many_events(void)
{
	struct kernel_fault_record e = kernel_fault_record(10, 1, false);
	struct slow_faults_record slow = RECORD(slow_faults_record, RECORD_SLOW_FAULTS, SECOND);

	begin();
	for (uint64_t i = 0; i < HISTORY_EVENTS_MAX; i++) {
		e.ip = i;
		model_take(&m, &e.h);
		model_take(&m, &slow.h);
	}
	look(NULL, 0, 2 * SECOND);
	ok(h.events == HISTORY_EVENTS_MAX && !h.events_lost, "as many as there is room for");
	is_u64(h.event[HISTORY_EVENTS_MAX - 1].kernel_fault.ip, HISTORY_EVENTS_MAX - 1,
	       "the last one");
	is_u64(h.point[0].events, HISTORY_EVENTS_MAX, "all of this scan");
	model_take(&m, &e.h);
	look(NULL, 0, 3 * SECOND);
	ok(h.events == HISTORY_EVENTS_MAX && h.events_lost == 1, "one more is lost");
	is_u64(h.point[1].events, 1, "but it is counted");
	end();
}

static void name_it(uint32_t pid, const char *command)
{
	struct names_record r = RECORD(names_record, RECORD_NAMES, SECOND);

	r.subject = (struct process_key){.start_ns = 1, .pid = pid};
	snprintf(r.command, sizeof(r.command), "%s", command);
	snprintf(r.exe, sizeof(r.exe), "%s", command);
	model_take(&m, &r.h);
}

/* The names of a process are its last ones. */
static void test_names(void)
{
	struct process_record p = process_record(10, 1, 0);
	const struct history_row *r;

	begin();
	look(&p, 1, 2 * SECOND);
	r = &h.row[0];
	ok(!r->exe, "a name that is not known");
	name_it(10, "abc");
	look(&p, 1, 3 * SECOND);
	is_str(r->exe, "abc", "a name");
	name_it(10, "abcd");
	look(&p, 1, 4 * SECOND);
	is_str(r->exe, "abcd", "a longer one that begins alike");
	name_it(10, "ab");
	look(&p, 1, 5 * SECOND);
	is_str(r->exe, "ab", "a shorter one");
	name_it(10, "");
	look(&p, 1, 6 * SECOND);
	is_str(r->exe, "ab", "one that is no longer known stays");
	end();
}

int main(void)
{
	test_many_events();
	test_names();
	test_cgroups();
	test_cgroups_with_memory_high();
	test_sums();
	test_joined();
	test_bounded();
	test_crowd();
	test_events();
	return tap_done();
}
