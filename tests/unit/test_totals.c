// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests sums over processes, those that ended, the highest ones among them, and use of limits. */
#include "fixture.h"
#include "model/ended.h"
#include "model/resources.h"
#include "model/totals.h"
#include "tap.h"

static struct model m;
static uint64_t now_ns;

static void begin(void)
{
	begin_model(&m, NULL);
	now_ns = SECOND;
}

static void next(void)
{
	struct tick_record t = tick_record(now_ns += SECOND);

	model_take(&m, &t.h);
	model_next_window(&m);
}

static struct process_record process(uint32_t pid)
{
	struct process_record r = process_record(pid, 1, now_ns + 1);

	r.g.flags = PROC_BORN;
	return r;
}

/* A process that is seen once, at its end. */
static void ends(struct process_record r)
{
	r.g.flags |= PROC_FINAL;
	model_take(&m, &r.h);
	next();
}

static const struct subject *find(uint32_t pid)
{
	return model_find(&m, &(struct process_key){.pid = pid, .start_ns = 1});
}

static void test_counters(void)
{
	struct counters sum = {}, one = {};

	one.latency_max_ns[0] = 50;
	one.served_max_ns[NR_CLASSES - 1] = 60;
	one.stall_ns[0] = 7;
	one.latency[0][0] = 5;
	one.kernel_bad = NOT_COUNTED;
	counters_add(&sum, &one);
	one.latency_max_ns[0] = 49;
	one.served_max_ns[NR_CLASSES - 1] = 61;
	one.kernel_bad = 3;
	counters_add(&sum, &one);
	is_u64(sum.latency_max_ns[0], 50, "the highest of each");
	is_u64(sum.served_max_ns[NR_CLASSES - 1], 61, "also of the last class");
	is_u64(sum.stall_ns[0], 14, "the sum of others");
	is_u64(sum.latency[0][0], 10, "also of those behind the highest ones");
	is_u64(sum.kernel_bad, 3, "what was not counted adds nothing");
}

/* Of processes that reached equal shares of a limit, the first one stays. */
static void test_peaks(void)
{
	struct process_record r;

	begin();
	for (uint32_t pid = 10; pid < 12; pid++) {
		r = process(pid);
		r.g.map_count = r.g.map_high = 300;
		r.g.fds = r.g.fd_high = 50;
		r.g.rss_anon_pages = 1000;
		ends(r);
	}
	ok(m.totals.maps.pid == 10 && m.totals.maps.value == 300 && m.totals.maps.limit == 65530,
	   "mappings");
	ok(m.totals.fds.pid == 10 && m.totals.fds.value == 50 && m.totals.fds.limit == 1024, "fds");
	ok(m.totals.rss.pid == 10 && m.totals.rss.value == 4096000, "resident memory");
	is_str(m.totals.rss.comm, "proc10", "and whose they are");
	r = process(12);
	r.g.map_count = r.g.map_high = 301;
	r.g.fds = r.g.fd_high = 26;
	r.g.fd_soft = 512;
	r.g.rss_anon_pages = 1001;
	ends(r);
	ok(m.totals.maps.pid == 12 && m.totals.maps.value == 301, "more mappings");
	ok(m.totals.fds.pid == 12 && m.totals.fds.value == 26 && m.totals.fds.limit == 512,
	   "fewer fds may be a higher share");
	ok(m.totals.rss.pid == 12 && m.totals.rss.value == 4100096, "more memory");
	is_u64(m.totals.processes, 3, "three processes");
	is_u64(m.totals.ended, 3, "that ended");
	model_free(&m);
}

/* A major fault counts as much as 100 minor ones. */
static void test_most_faults(void)
{
	static const struct {
		uint64_t minor, major;
	} faults[] = {{300, 0}, {0, 3}, {299, 0}, {1, 3}, {100, 2}};
	static const uint32_t order[] = {13, 10, 11, 14, 12};
	const struct fault_totals_table *t = &m.totals.fault_totals_table;

	begin();
	for (uint32_t i = 0; i < 5; i++) {
		struct process_record r = process(10 + i);

		r.g.min_flt = faults[i].minor;
		r.g.maj_flt = faults[i].major;
		r.u.cpu_ns = 70 + i;
		r.c.stall_ns[END_MINOR] = 20;
		r.c.stall_ns[END_MAJOR] = 3;
		ends(r);
	}
	is_u64(t->n, 5, "five processes");
	for (uint32_t i = 0; i < 5; i++)
		is_u64(t->fault_totals[i].pid, order[i], "by faults, then as they ended");
	ok(t->fault_totals[0].stall_ns == 23 && t->fault_totals[0].cpu_ns == 73 &&
		   t->fault_totals[0].minor == 1 && t->fault_totals[0].major == 3,
	   "with their other sums");
	ok(m.totals.min_flt == 700 && m.totals.maj_flt == 8, "and all faults");
	for (uint32_t pid = 20; pid < 20 + FAULT_TOTALS_MAX; pid++) {
		struct process_record r = process(pid);

		r.g.maj_flt = 3;
		ends(r);
	}
	is_u64(t->n, FAULT_TOTALS_MAX, "no more than there is room for");
	ok(t->fault_totals[0].pid == 13 && t->fault_totals[4].pid == 20 &&
		   t->fault_totals[FAULT_TOTALS_MAX - 1].pid == 23,
	   "those with most, and those that ended first");
	model_free(&m);
}

/* Faults, time and failures from before the watch do not count. */
static void test_base(void)
{
	struct process_record r = process(10);
	struct totals t;

	begin();
	r.g.flags = 0;
	r.g.min_flt = 1000;
	r.g.maj_flt = 100;
	r.u.cpu_ns = 5000;
	model_take(&m, &r.h);
	r.g.min_flt = 1007;
	r.g.maj_flt = 102;
	r.u.cpu_ns = 4999;
	model_take(&m, &r.h);
	model_totals(&m, &t);
	ok(t.min_flt == 7 && t.maj_flt == 2, "faults since the first record");
	is_u64(t.fault_totals_table.fault_totals[0].cpu_ns, 0, "time that fell is none");
	ok(t.processes == 1 && !t.ended && !m.totals.processes, "of a live process");
	model_free(&m);
}

static void test_ended(void)
{
	const struct subject *s = NULL;
	uint32_t found = 0;

	begin();
	ok(!model_each_ended(&m, NULL), "none is kept");
	is_u64(model_keep_ended(&m, 2), 0, "two shall be kept");
	ends(process(10));
	ends(process(11));
	ok(m.ended->n == 2 && !m.ended->dropped, "two ended");
	ends(process(12));
	ok(m.ended->n == 2 && m.ended->dropped == 1, "a third one takes the place");
	for (uint32_t pid = 11; (s = model_each_ended(&m, s)); pid++)
		found += s->id.pid == pid;
	is_u64(found, 2, "of the oldest");
	ok(model_find_any(&m, &(struct process_key){.pid = 12, .start_ns = 1}) &&
		   !model_find_any(&m, &(struct process_key){.pid = 10, .start_ns = 1}) &&
		   !model_find_any(&m, &(struct process_key){.pid = 12, .start_ns = 2}),
	   "by pid and start");
	model_keep_ended(&m, 0);
	ends(process(13));
	ok(m.ended->n == 2 && m.ended->dropped == 2, "one goes for each that ends");
	model_free(&m);
}

/* Whether a resource is known, and its limit. */
static void test_limits(void)
{
	struct process_record r = process(10);
	const struct subject *s;
	struct use u;

	begin();
	r.g.memlock_limit_bytes = 8192;
	r.g.locked_vm_pages = 2;
	r.g.threads = 3;
	model_take(&m, &r.h);
	s = find(10);
	ok(resource_use(&m, s, RESOURCE_MEMLOCK, &u) && u.value == 8192 && u.limit == 8192,
	   "locked memory at its limit");
	r.g.locked_vm_pages = 3;
	model_take(&m, &r.h);
	ok(resource_use(&m, s, RESOURCE_MEMLOCK, &u) && u.limit == UINT64_MAX,
	   "above it, the limit does not apply");
	ok(resource_use(&m, s, RESOURCE_THREADS, &u) && u.value == 3 && !u.limit,
	   "threads of a process, whose user's are not known");
	r.u.user_threads = 70;
	r.u.user_threads_limit = 100;
	model_take(&m, &r.h);
	ok(resource_use(&m, s, RESOURCE_THREADS, &u) && u.value == 70 && u.limit == 100,
	   "threads of the user");
	m.tick.limits.mem_available_bytes = m.tick.limits.mem_total_bytes;
	ok(resource_use(&m, NULL, RESOURCE_MEMORY, &u) && !u.value, "all memory is available");
	m.tick.limits.mem_available_bytes++;
	ok(!resource_use(&m, NULL, RESOURCE_MEMORY, &u), "more than all is an error");
	m.tick.limits.mem_available_bytes = 0;
	ok(!resource_use(&m, NULL, RESOURCE_MEMORY, &u), "none was not read");
	m.tick.limits.swap_free_bytes = m.tick.limits.swap_total_bytes + 1;
	ok(!resource_use(&m, NULL, RESOURCE_SWAP, &u), "more swap than all");
	m.tick.limits.swap_free_bytes = 0;
	ok(resource_use(&m, NULL, RESOURCE_SWAP, &u) && u.value == u.limit, "swap that is full");
	m.tick.limits.overcommit_memory = 1;
	ok(resource_use(&m, NULL, RESOURCE_COMMIT, &u) && u.limit == UINT64_MAX,
	   "no limit of committed memory");
	m.tick.limits.overcommit_memory = 2;
	ok(resource_use(&m, NULL, RESOURCE_COMMIT, &u) && u.limit == 8ULL << 30, "with mode 2");
	m.assumed[RESOURCE_COMMIT] = 5;
	ok(resource_use(&m, NULL, RESOURCE_COMMIT, &u) && u.limit == 5 && u.assumed,
	   "a limit that is assumed");
	ok(resource_find("vm.max_map_count") == 0 &&
		   resource_find("SwapTotal") == NR_RESOURCES - 1 &&
		   resource_find("SwapTota") == -1,
	   "by name");
	model_free(&m);
}

/* A series of values begins at a tenth of the limit. */
static void test_watched(void)
{
	static const struct {
		uint32_t fds;
		bool watched;
	} cases[] = {{99, false}, {100, true}, {101, true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_record r = process(10);
		const struct series *s;

		begin();
		r.g.fd_soft = 1000;
		r.g.fds = r.g.fd_high = cases[i].fds;
		model_take(&m, &r.h);
		s = resource_series(&m, find(10), RESOURCE_FDS);
		ok((s != NULL) == cases[i].watched, "%u of 1000", cases[i].fds);
		r.h.t_ns += SECOND;
		r.g.fds = 1;
		model_take(&m, &r.h);
		s = resource_series(&m, find(10), RESOURCE_FDS);
		is_u64(s ? s->n : 0, cases[i].watched ? 2 : 0, "and from then on");
		model_free(&m);
	}
}

int main(void)
{
	test_counters();
	test_peaks();
	test_most_faults();
	test_base();
	test_ended();
	test_limits();
	test_watched();
	return tap_done();
}
