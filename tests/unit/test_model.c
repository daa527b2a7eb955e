// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fixture.h"
#include "model/fields.h"
#include "model/resources.h"
#include "tap.h"

static struct model m;

static struct subject *find(uint32_t pid, uint64_t birth)
{
	struct process_key id = {.pid = pid, .start_ns = birth};

	return model_find(&m, &id);
}

static void take_tick(uint64_t t_ns)
{
	struct tick_record t = tick_record(t_ns);

	model_take(&m, &t.h);
}

/* Returns the current value of a field of a process; UINT64_MAX if it is null. */
static uint64_t value(const struct subject *s, const char *name)
{
	uint64_t n;

	return s && field_get(&m, s, field_find(name), &n) ? n : UINT64_MAX;
}

static uint64_t delta(const struct subject *s, const char *name)
{
	return field_delta(&m, s, field_find(name));
}

static size_t alive(void)
{
	size_t n = 0;

	for (struct subject *s = model_each(&m, NULL); s; s = model_each(&m, s))
		n++;
	return n;
}

static void test_identity(void)
{
	struct process_record a = process_record(10, 100, SECOND),
			      b = process_record(10, 200, SECOND);
	struct totals t;

	begin_model(&m, NULL);
	a.g.min_flt = 7;
	b.g.min_flt = 9;
	model_take(&m, &a.h);
	model_take(&m, &b.h);
	is_u64(m.subjects, 2, "a pid that is reused is another subject");
	ok(find(10, 100) && find(10, 200) && find(10, 100) != find(10, 200),
	   "each is found by its birth");
	ok(!find(10, 300) && !find(11, 100), "none else is");
	model_take(&m, &a.h);
	is_u64(m.subjects, 2, "a second record makes no subject");
	model_totals(&m, &t);
	is_u64(t.processes, 2, "nor a process seen");
	for (uint32_t pid = 1000; pid < 21000; pid++) {
		a = process_record(pid, pid * 7, SECOND);
		model_take(&m, &a.h);
	}
	is_u64(alive(), 20002, "each is walked once, however many");
	model_free(&m);
}

static void test_windows(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);
	struct subject *s;

	begin_model(&m, NULL);
	r.g.min_flt = 1000;
	r.c.fault_kind[0] = 50;
	model_take(&m, &r.h);
	take_tick(2 * SECOND);
	s = find(10, 1);
	is_u64(value(s, "faults.minor"), 0, "what was before us does not count");
	is_u64(delta(s, "faults.minor"), 0, "and is no growth");
	is_u64(value(s, "faults.user"), 0, "nor do hooks count what was before the first look");
	is_u64(delta(s, "faults.user"), 0, "and that is no growth");
	ok(subject_changed(&m, s), "changed in this window");
	ok(model_window_seconds(&m) == 1, "the window is a second");
	model_next_window(&m);
	ok(!subject_changed(&m, s), "not yet in the next");
	is_u64(delta(s, "faults.minor"), 0, "no growth where nothing came");

	r.h.t_ns = 3 * SECOND;
	r.g.min_flt = 1300;
	r.c.fault_kind[0] = 150;
	r.g.maj_flt = 4;
	model_take(&m, &r.h);
	r.g.min_flt = 1400;
	r.c.fault_kind[0] = 170;
	model_take(&m, &r.h);
	is_u64(delta(s, "faults.minor"), 400, "two records of a window: growth of both");
	is_u64(delta(s, "faults.user"), 120, "of counters too");
	is_u64(delta(s, "faults.major"), 4, "major");
	is_u64(value(s, "faults.minor"), 400, "total");
	model_next_window(&m);

	r.g.min_flt = 1390;
	r.c.fault_kind[0] = 160;
	r.g.maj_flt = 0;
	model_take(&m, &r.h);
	is_u64(delta(s, "faults.minor"), 0, "a sum that shrinks is no growth");
	is_u64(delta(s, "faults.user"), 0, "nor a counter that does");
	is_u64(value(s, "faults.minor"), 400, "and a total does not go back");
	is_u64(value(s, "faults.major"), 4, "nor that of major faults");
	r.c.fault_kind[0] = 10;
	model_take(&m, &r.h);
	ok(value(s, "faults.user") < 1000, "a counter below its base is not a huge one");
	model_free(&m);
}

static void test_short_record(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);
	struct subject *s;

	begin_model(&m, NULL);
	r.g.flags = PROC_BORN;
	r.c.fault_failed = 3;
	model_take(&m, &r.h);
	s = find(10, 1);
	is_u64(delta(s, "faults.failed"), 3, "counters of a process born under watch are growth");
	model_next_window(&m);
	r.h.len = offsetof(struct process_record, c);
	r.c.fault_failed = 99;
	r.g.map_count = 123;
	model_take(&m, &r.h);
	is_u64(value(s, "faults.failed"), 3, "a record without counters keeps the old ones");
	is_u64(delta(s, "faults.failed"), 0, "and is no growth of them");
	is_u64(value(s, "maps.count"), 123, "but its gauges are taken");
	r = process_record(11, 1, 2 * SECOND);
	r.h.len = offsetof(struct process_record, c);
	model_take(&m, &r.h);
	is_u64(value(find(11, 1), "faults.failed"), 0, "without any counters they are 0");
	model_free(&m);
}

static void test_born(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);
	struct subject *s;

	begin_model(&m, NULL);
	r.g.flags = PROC_BORN;
	r.g.min_flt = 70;
	r.g.maj_flt = 2;
	r.g.fd_base = 3;
	r.g.fds = 8;
	r.c.fd_call[CALL_OPEN - CALL_FD_FIRST].calls = 5;
	model_take(&m, &r.h);
	s = find(10, 1);
	is_u64(value(s, "faults.minor"), 70, "born under watch: all its faults count");
	is_u64(delta(s, "faults.minor"), 70, "as growth of its first window");
	is_u64(value(s, "faults.major"), 2, "major too");
	is_u64(value(s, "fds.opened"), 5, "descriptors it inherited were not opened by it");
	is_u64(value(s, "fds.closed"), 0, "and none was closed");
	model_free(&m);
}

static void test_final(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND),
			      live = process_record(11, 1, 2 * SECOND);
	struct totals t;

	begin_model(&m, NULL);
	r.g.flags = live.g.flags = PROC_BORN;
	r.g.min_flt = 10;
	r.c.latency_max_ns[0] = 500;
	r.c.stall_ns[0] = 40;
	live.g.min_flt = 1;
	live.c.latency_max_ns[0] = 300;
	live.c.stall_ns[0] = 2;
	model_take(&m, &r.h);
	model_take(&m, &live.h);
	model_next_window(&m);
	r.g.flags |= PROC_FINAL;
	r.g.min_flt = 15;
	model_take(&m, &r.h);
	take_tick(3 * SECOND);
	ok(find(10, 1) && find(10, 1)->final, "a subject that ended stays for its last window");
	is_u64(delta(find(10, 1), "faults.minor"), 5, "with its last growth");
	model_totals(&m, &t);
	is_u64(t.min_flt, 16, "totals hold it while it is there");
	model_next_window(&m);
	ok(!find(10, 1), "and is gone in the next");
	is_u64(m.subjects, 1, "one subject is left");
	model_totals(&m, &t);
	is_u64(t.min_flt, 16, "totals hold it still");
	is_u64(t.c.stall_ns[0], 42, "sums are sums");
	is_u64(t.c.latency_max_ns[0], 500, "maxima are maxima");
	is_u64(t.processes, 2, "both were seen");
	is_u64(t.ended, 1, "one ended");
	r.h.len = offsetof(struct process_record, c);
	r.g.flags &= ~PROC_FINAL;
	model_take(&m, &r.h);
	find(10, 1)->hidden = true;
	model_totals(&m, &t);
	is_u64(t.min_flt, 16, "hidden ones are not summed");
	model_free(&m);
}

/*
 * Tests that the number of open fds is the number of opened fds minus that of closed fds, even if
 * some calls were missed.
 */
static void test_fd_balance(void)
{
	static const struct {
		uint32_t fds;
		uint64_t made, closed;
	} step[] = {{4, 0, 0},	 {9, 5, 0},	{9, 25, 20},   {12, 25, 20}, {2, 26, 21},
		    {0, 26, 30}, {300, 26, 30}, {300, 30, 34}, {4, 30, 34}};
	struct process_record r = process_record(10, 1, 2 * SECOND);
	bool balanced = true, forward = true;
	uint64_t opened = 0, closed = 0;
	struct subject *s;

	begin_model(&m, NULL);
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		r.g.fds = step[i].fds;
		r.c.fd_call[CALL_DUP - CALL_FD_FIRST].calls = step[i].made;
		r.c.fd_call[CALL_CLOSE - CALL_FD_FIRST].calls = step[i].closed;
		model_take(&m, &r.h);
		s = find(10, 1);
		balanced &= value(s, "fds.opened") - value(s, "fds.closed") == r.g.fds - 4ULL;
		balanced &= value(s, "fds.opened") >= step[i].made;
		balanced &= value(s, "fds.closed") >= step[i].closed;
		forward &= value(s, "fds.opened") >= opened && value(s, "fds.closed") >= closed;
		opened = value(s, "fds.opened");
		closed = value(s, "fds.closed");
	}
	ok(balanced, "opened less closed is the change of the count");
	ok(forward, "opened and closed are totals: they never go back");
	model_free(&m);
}

static void test_events(void)
{
	struct signal_record sig = RECORD(signal_record, RECORD_SIGNAL, SECOND);
	struct crossing_record c = RECORD(crossing_record, RECORD_CROSSING, SECOND);

	begin_model(&m, NULL);
	for (int i = 0; i < MODEL_EVENTS_MAX + 10; i++) {
		sig.tid = i;
		model_take(&m, &sig.h);
	}
	is_u64(m.events, MODEL_EVENTS_MAX, "events of a window have a cap");
	is_u64(m.events_lost, 10, "what is beyond it is counted");
	ok(m.event[0].signal.tid == 0 &&
		   m.event[MODEL_EVENTS_MAX - 1].signal.tid == MODEL_EVENTS_MAX - 1,
	   "the first ones are kept, in order");
	model_next_window(&m);
	is_u64(m.events, 0, "the next window begins without");
	c.subject.pid = 4242;
	c.limit = 100;
	c.value = 50;
	model_take(&m, &c.h);
	is_u64(m.events, 1, "a crossing of a subject that is not known is an event too");
	model_free(&m);
}

static void test_subject_cap(void)
{
	struct process_record r = process_record(1, 1, SECOND);

	begin_model(&m, NULL);
	r.h.len = offsetof(struct process_record, c);
	for (uint32_t i = 0; i < MODEL_SUBJECTS_MAX; i++) {
		r.subject.pid = i;
		model_take(&m, &r.h);
	}
	is_u64(m.subjects_lost, 0, "as many subjects as the cap");
	r.subject.pid = MODEL_SUBJECTS_MAX;
	ok(!model_take(&m, &r.h), "one more is no error");
	is_u64(m.subjects_lost, 1, "but counted");
	is_u64(m.subjects, MODEL_SUBJECTS_MAX, "and not kept");
	r.subject.pid = 5;
	r.g.flags = PROC_FINAL;
	model_take(&m, &r.h);
	model_next_window(&m);
	r.subject.pid = MODEL_SUBJECTS_MAX;
	r.g.flags = 0;
	model_take(&m, &r.h);
	is_u64(m.subjects, MODEL_SUBJECTS_MAX, "one that ended makes room");
	model_free(&m);
}

static void test_peaks(void)
{
	struct process_record a = process_record(10, 1, SECOND), b = process_record(11, 1, SECOND);
	struct totals t;

	begin_model(&m, NULL);
	a.g.map_high = 30000;
	b.g.map_high = 20000;
	a.g.fd_high = 500;
	b.g.fd_high = 400;
	b.g.fd_soft = 410;
	model_take(&m, &a.h);
	model_take(&m, &b.h);
	model_totals(&m, &t);
	is_u64(t.maps.value, 30000, "the peak of maps");
	is_u64(t.maps.pid, 10, "and whose it was");
	is_u64(t.fds.value, 400, "of descriptors by their share of the limit");
	is_u64(t.fds.limit, 410, "which differs");
	is_str(t.fds.comm, "proc11", "and whose");
	a.g.flags = PROC_FINAL;
	model_take(&m, &a.h);
	model_next_window(&m);
	model_totals(&m, &t);
	is_u64(t.maps.value, 30000, "a peak outlives its process");
	model_free(&m);
}

static void test_probe_names(void)
{
	struct hook_record early[] = {hook_record("look", HOOK_ON), hook_record("life", HOOK_ON),
				      hook_record("lifeline", HOOK_ON)};
	struct model m;

	model_init(&m);
	for (size_t i = 0; i < 3; i++)
		model_take(&m, &early[i].h);
	ok(model_hook_on(&m, "scan") && model_hook_on(&m, "lifecycle"),
	   "probes of early recordings have the names of today");
	ok(!model_hook_on(&m, "look") && !model_hook_on(&m, "life"), "and these alone");
	ok(model_hook_on(&m, "lifeline"), "a longer name is another probe");
	model_free(&m);
}

static void test_blind(void)
{
	struct process_record r = process_record(10, 1, SECOND);
	struct subject *s;
	uint64_t n;

	begin_model(&m, "calls");
	r.g.flags = PROC_BORN;
	r.c.unmapped_area = 12;
	model_take(&m, &r.h);
	s = find(10, 1);
	ok(!model_hook_on(&m, "calls") && model_hook_on(&m, "lifecycle") &&
		   !model_hook_on(&m, "nosuch"),
	   "which hooks are on");
	ok(!field_get(&m, s, FIELD(map_refused), &n), "a figure of a blind hook is null");
	ok(field_get(&m, s, FIELD(min_flt), &n), "the kernel's own figure is not");
	is_u64(value(s, "maps.created"), 12, "mappings made are told by the address asked for");
	model_free(&m);
}

static void test_names(void)
{
	struct names_record r = RECORD(names_record, RECORD_NAMES, SECOND);
	struct process_record p = process_record(10, 1, SECOND);
	struct symbol_record sym = RECORD(symbol_record, RECORD_SYMBOL, SECOND);

	begin_model(&m, NULL);
	r.subject = p.subject;
	strcpy(r.exe, "/bin/a");
	model_take(&m, &r.h);
	ok(!m.subjects, "names of a subject that is not known make none");
	model_take(&m, &p.h);
	model_take(&m, &r.h);
	strcpy(r.exe, "/bin/b");
	model_take(&m, &r.h);
	is_str(find(10, 1)->exe, "/bin/b", "the last names count");
	ok(!find(10, 1)->cgroup, "an empty one is not known");
	for (int i = 0; i < MODEL_SYMBOLS_MAX + 5; i++) {
		sym.ip = i;
		model_take(&m, &sym.h);
	}
	is_u64(m.symbols, MODEL_SYMBOLS_MAX, "symbols have a cap");
	ok(model_symbol(&m, 5) && !model_symbol(&m, MODEL_SYMBOLS_MAX + 1), "found by address");
	model_free(&m);
}

static void test_quantiles(void)
{
	const struct histogram *ns = &histograms[0], *bytes = NULL;
	struct counters c = {};

	for (size_t i = 0; i < nr_histograms; i++)
		if (!histograms[i].max)
			bytes = &histograms[i];
	is_u64(histogram_quantile(ns, &c, 0.5), 0, "quantile of nothing");
	is_u64(histogram_le(ns, 0), 512, "the first bucket of latency is below 512 ns");
	ok(histogram_le(ns, NR_LATENCY - 1) == UINT64_MAX, "the last has no bound");
	is_u64(histogram_le(ns, NR_LATENCY - 2), 1ULL << 39, "the last but one has");
	c.latency[0][0] = 1;
	c.latency_max_ns[0] = 300;
	is_u64(histogram_quantile(ns, &c, 0), 300, "one value, q 0");
	is_u64(histogram_quantile(ns, &c, 1), 300, "one value, q 1");
	c.latency[0][1] = 98;
	c.latency[0][5] = 1;
	c.latency_max_ns[0] = 10000;
	is_u64(histogram_total(ns, &c), 100, "total");
	is_u64(histogram_quantile(ns, &c, 0.01), 512, "q 0.01 is the first of a hundred");
	is_u64(histogram_quantile(ns, &c, 0.5), 1024, "the median");
	is_u64(histogram_quantile(ns, &c, 0.99), 1024, "q 0.99 is the ninety-ninth of a hundred");
	is_u64(histogram_quantile(ns, &c, 1), 10000, "the last is no more than the maximum");
	memset(&c, 0, sizeof(c));
	c.latency[0][NR_LATENCY - 1] = 1;
	c.latency_max_ns[0] = 1ULL << 45;
	is_u64(histogram_quantile(ns, &c, 0.5), 1ULL << 45,
	       "in the bucket without a bound: the maximum");
	if (ok(bytes, "a histogram without a maximum")) {
		c.map_size[0] = 4;
		is_u64(histogram_quantile(bytes, &c, 0.5), 8192, "its quantile is a bound");
		is_u64(histogram_le(bytes, 0), 8192, "sizes begin below 8 KiB");
	}
}

static void test_table(void)
{
	bool helped = true, named = true, unique = true, grouped = true, found = true;

	for (size_t i = 0; i < nr_fields; i++) {
		const struct field *f = &fields[i];
		char name[80];

		helped &= f->help && f->help[0] && (f->get || f->at);
		named &= f->group && f->key && f->key[0];
		for (size_t k = 0; k < i; k++)
			unique &=
				strcmp(fields[k].group, f->group) || strcmp(fields[k].key, f->key);
		for (size_t k = i + 1; k < nr_fields; k++)
			grouped &= strcmp(fields[k].group, f->group) ||
				   !strcmp(fields[k - 1].group, f->group);
		snprintf(name, sizeof(name), "%s%s%s", f->group, f->group[0] ? "." : "", f->key);
		found &= field_find(name) == f;
	}
	ok(nr_fields > 20 && helped, "each field has help and a getter");
	ok(named, "and a name");
	ok(unique, "group and key are unique");
	ok(grouped, "a group stands together");
	ok(found, "each is found by its full name");
	is_str(field_find("rss_bytes")->key, "rss_bytes", "by its key alone");
	is_str(field_find("MINFLT")->key, "minor", "by its column alone");
	ok(!field_find("") && !field_find("nosuch") && !field_find("faults.") &&
		   !field_find("faults") && !field_find(".minor"),
	   "nothing else is found");
	ok(!field_find("count"), "a key of two fields is none's name");
}

static void test_grids(void)
{
	struct counters c;
	bool rows = true, cells = true, unique = true;

	memset(&c, 1, sizeof(c));
	for (size_t i = 0; i < nr_grids; i++) {
		const struct grid *g = &grids[i];

		for (size_t row = 0; row < g->rows; row++) {
			rows &= g->row(row) && g->row(row)[0];
			for (size_t k = 0; k < row && rows; k++)
				unique &= strcmp(g->row(k), g->row(row)) != 0;
			for (size_t k = 0; k < g->columns; k++) {
				rows &= !g->column || (g->column[k] && g->column[k][0]);
				cells &= g->cell(&c, row, k) != 0;
			}
		}
		rows &= g->help && g->hook && (g->column || g->columns == 1);
	}
	ok(rows, "each row and column of a grid has a name");
	ok(unique, "rows of a grid differ");
	ok(cells, "each cell counts something");
	is_str(call_name(CALL_MMAP), "mmap", "the first call");
	is_str(call_name(CALL_CLOSE), "close", "the last call");
	is_str(call_name(CALL_NONE), "unknown", "no call");
	is_str(call_name(CALL_MAX), "unknown", "past the last");
	is_str(call_name(~0u), "unknown", "far past");
}

static void test_kinds(void)
{
	struct counters c = {};

	for (int i = 0; i < NR_FAULT_KINDS; i++)
		c.fault_kind[i] = 1ULL << i;
	is_u64(count_kinds(&c, -1, -1, -1), 0xffff, "all kinds");
	is_u64(count_kinds(&c, 0, -1, -1), 0xff, "user mode");
	is_u64(count_kinds(&c, 1, -1, -1), 0xff00, "kernel mode");
	is_u64(count_kinds(&c, -1, FAULT_WRITE, -1), 0x0c0c, "writes");
	is_u64(count_kinds(&c, -1, -1, 1), 0xaaaa, "protection");
	is_u64(count_kinds(&c, 0, FAULT_EXEC, 0), 0x10, "one kind");
}

static const struct series *series(const struct subject *s, enum resource_id id)
{
	return resource_series(&m, s, id);
}

static void test_series(void)
{
	struct process_record r = process_record(10, 1, SECOND);
	struct crossing_record c = RECORD(crossing_record, RECORD_CROSSING, 4 * SECOND);
	struct subject *s;

	begin_model(&m, NULL);
	model_take(&m, &r.h);
	s = find(10, 1);
	ok(!s->series && !series(s, RESOURCE_MAPS), "far from a limit no series is kept");
	r.h.t_ns = 2 * SECOND;
	r.g.map_count = 6553;
	r.g.fds = 103;
	r.g.locked_vm_pages = 204;
	model_take(&m, &r.h);
	ok(series(s, RESOURCE_MAPS) && series(s, RESOURCE_MAPS)->n == 1 &&
		   series(s, RESOURCE_FDS) && series(s, RESOURCE_FDS)->n == 1,
	   "from a tenth of the limit one is");
	ok(!series(s, RESOURCE_MEMLOCK) && !series(s, RESOURCE_THREADS), "but not of the others");
	r.h.t_ns = 3 * SECOND;
	r.g.locked_vm_pages = 205;
	model_take(&m, &r.h);
	ok(series(s, RESOURCE_MEMLOCK) && series(s, RESOURCE_MEMLOCK)->last == 205 * 4096,
	   "locked memory is kept in bytes");
	c.subject = r.subject;
	c.what = WHAT_MAPS;
	c.value = 32765;
	c.limit = 65530;
	model_take(&m, &c.h);
	ok(series(s, RESOURCE_MAPS)->n == 3 && series(s, RESOURCE_MAPS)->point[2].high == 32765,
	   "a crossing is a point of it");
	r = process_record(11, 1, SECOND);
	r.g.fds = 1000;
	r.g.fd_soft = UINT64_MAX;
	model_take(&m, &r.h);
	ok(!series(find(11, 1), RESOURCE_FDS), "no series without a limit");
	model_free(&m);
}

/* Checks the limit and the current use of a host resource after a scan. */
static void is_host(enum resource_id id, struct tick_record *t, uint64_t value, uint64_t limit)
{
	struct use u = {};

	model_take(&m, &t->h);
	ok(resource_use(&m, NULL, id, &u) && u.value == value && u.limit == limit, "%s",
	   resources[id].limit);
}

static void test_host(void)
{
	struct tick_record t = tick_record(2 * SECOND);
	struct use u;

	begin_model(&m, NULL);
	ok(!m.series, "no series of the host, far from its limits");
	is_host(RESOURCE_FILES, &t, 1000, 1000000);
	is_host(RESOURCE_COMMIT, &t, 1ULL << 30, UINT64_MAX);
	ok(!resource_use(&m, NULL, RESOURCE_MEMORY, &u), "memory that is not told is not known");
	t.limits.overcommit_memory = 2;
	is_host(RESOURCE_COMMIT, &t, 1ULL << 30, 8ULL << 30);
	t.limits.committed_bytes = 3ULL << 30;
	t.limits.mem_available_bytes = 2ULL << 30;
	is_host(RESOURCE_MEMORY, &t, 6ULL << 30, 8ULL << 30);
	t.limits.swap_free_bytes = 1ULL << 29;
	is_host(RESOURCE_SWAP, &t, 1ULL << 29, 1ULL << 30);
	ok(series(NULL, RESOURCE_COMMIT) && series(NULL, RESOURCE_MEMORY) &&
		   !series(NULL, RESOURCE_FILES),
	   "of what is in use enough a series is kept");
	model_free(&m);
}

static void test_assumed(void)
{
	struct process_record r = process_record(10, 1, 2 * SECOND);
	struct totals totals;
	struct use u = {};

	begin_model(&m, NULL);
	m.assumed[RESOURCE_MAPS] = 262144;
	m.assumed[RESOURCE_THREADS] = 1000;
	r.g.map_count = r.g.map_high = 32765;
	r.g.threads = 500;
	model_take(&m, &r.h);
	ok(resource_use(&m, find(10, 1), RESOURCE_MAPS, &u) && u.limit == 262144 && u.assumed,
	   "an assumed limit is one");
	ok(resource_use(&m, find(10, 1), RESOURCE_FDS, &u) && u.limit == 1024 && !u.assumed,
	   "the others are as they are");
	is_u64(value(find(10, 1), "maps.limit"), 262144, "the field has it");
	model_totals(&m, &totals);
	is_u64(totals.maps.limit, 262144, "the peak has it");
	is_u64(m.tick.limits.max_map_count, 65530, "what the kernel said stays");
	ok(series(find(10, 1), RESOURCE_THREADS), "what has no limit gets one");
	model_free(&m);
}

static void test_resources(void)
{
	bool unique = true, whole = true;

	for (int i = 0; i < NR_RESOURCES; i++) {
		whole &= resources[i].limit && resources[i].what && resources[i].use &&
			 resources[i].get_limit;
		unique &= resource_find(resources[i].limit) == i;
	}
	ok(whole, "every row of the table is whole");
	ok(unique, "and found by its name");
	ok(resource_find("") < 0 && resource_find("vm.max_map") < 0, "no other name is one");
}

int main(void)
{
	test_identity();
	test_windows();
	test_short_record();
	test_born();
	test_final();
	test_fd_balance();
	test_events();
	test_subject_cap();
	test_peaks();
	test_probe_names();
	test_blind();
	test_names();
	test_quantiles();
	test_table();
	test_grids();
	test_kinds();
	test_series();
	test_host();
	test_assumed();
	test_resources();
	return tap_done();
}
