// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests findings about memory shortage just below and at each threshold: pages swapped per second,
 * shares of time stalled, percentages left. An open finding stays down to half of its threshold.
 */
#include "fixture.h"
#include "rules/pressure_rules.h"
#include "rules/shortage.h"
#include "tap.h"
#include "finding_text.h"

#define MIB    (1ULL << 20)
#define GIB    (1ULL << 30)
#define SPAN_S 10 /* the counters rose during 10 s */

static struct model m;
static struct pressure p;
static struct findings fs;
static struct finding f;
static const struct finding was_open;

typedef bool rule_test(const struct occasion *o, const struct finding *open, struct finding *f);

/* Judges an occasion by the rule with this test. Returns whether the rule matches. */
static bool judged(rule_test *test, const struct occasion *o, const struct finding *open)
{
	f = (struct finding){};
	for (size_t i = 0; i < nr_rules; i++)
		if (rules[i].test == test)
			f.rule = &rules[i];
	return f.rule->test(o, open, &f);
}

/* Judges the host. `open`: the finding is open already. */
static bool matches(rule_test *test, bool open)
{
	struct occasion o = {.m = &m, .findings = &fs};

	return judged(test, &o, open ? &was_open : NULL);
}

static void begin(void)
{
	begin_model(&m, NULL);
	m.pressure = &p;
	memset(&p, 0, sizeof(p));
	p.known = true;
	p.base.h.t_ns = SECOND;
	p.now.h.t_ns = (1 + SPAN_S) * SECOND;
	p.now.some.known = p.now.full.known = 1;
}

static void end(void)
{
	m.pressure = NULL;
	model_free(&m);
}

/* Sets how many events came within the span, and for how many ms of each second tasks waited. */
static void came(enum host_figure i, uint64_t events)
{
	p.now.n[i] = events;
}

static void waited(uint64_t some_ms, uint64_t full_ms)
{
	p.now.some.total_us = some_ms * 1000 * SPAN_S;
	p.now.full.total_us = full_ms * 1000 * SPAN_S;
}

static void test_swap(void)
{
	static const struct {
		uint64_t in, out, some_ms;
		bool opens, stays;
		const char *name;
	} rows[] = {
		{500, 100, 100, true, true, "50 pages in, 10 out, 10 % of the time"},
		{499, 100, 100, false, true, "a page less in 10 s is swapped in"},
		{500, 99, 100, false, true, "a page less is swapped out"},
		{500, 100, 99, false, true, "tasks wait a little less"},
		{250, 50, 50, false, true, "half of each: it stays open"},
		{249, 50, 50, false, false, "a page less in: it closes"},
		{250, 49, 50, false, false, "a page less out: it closes"},
		{250, 50, 49, false, false, "a shorter wait: it closes"},
	};

	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		came(HOST_SWAP_IN, rows[i].in);
		came(HOST_SWAP_OUT, rows[i].out);
		waited(rows[i].some_ms, 0);
		ok(matches(swap_thrashes, false) == rows[i].opens, "%s: %s", rows[i].name,
		   rows[i].opens ? "opens" : "does not open");
		ok(matches(swap_thrashes, true) == rows[i].stays, "%s: %s", rows[i].name,
		   rows[i].stays ? "stays" : "does not stay");
	}
	came(HOST_SWAP_IN, 500);
	came(HOST_SWAP_OUT, 0);
	waited(100, 0);
	p.now.some.avg60 = 999;
	ok(!matches(swap_thrashes, false), "nothing is swapped out, and pressure is new");
	p.now.some.avg60 = 1000;
	ok(matches(swap_thrashes, false), "pressure has lasted for a minute");
	came(HOST_SWAP_OUT, 0);
	came(HOST_ZSWAP_IN, 400);
	came(HOST_SWAP_IN, 100);
	ok(matches(swap_thrashes, false), "pages from zswap count");
	is_str(finding_evidence(&f, "swapped in"), "200 KiB/s", "in bytes per second");
	end();
}

/* Without PSI, many swapped pages are needed. */
static void test_swap_without_psi(void)
{
	begin();
	p.now.some.known = p.now.full.known = 0;
	came(HOST_SWAP_IN, 4000);
	came(HOST_SWAP_OUT, 1000);
	ok(matches(swap_thrashes, false), "500 pages per second");
	is_str(f.title, "swap thrashing: the working set does not fit into memory", "its title");
	is_str(finding_evidence(&f, "memory pressure (PSI)"), "not measured: the kernel has no PSI",
	       "it is not measured");
	came(HOST_SWAP_OUT, 999);
	ok(!matches(swap_thrashes, false), "a page less");
	came(HOST_SWAP_OUT, 1000);
	p.now.some.known = p.now.full.known = 1;
	ok(!matches(swap_thrashes, false), "PSI says that no task waits");
	ok(!matches(swap_thrashes, true), "nor does an open finding stay");
	end();
}

static void test_severity(void)
{
	begin();
	waited(200, 199);
	ok(matches(work_waits, false), "all tasks wait for less than 20 %% of the time");
	is_u64(f.severity, SEVERITY_WARNING, "a warning");
	is_u64(f.level, SEVERITY_WARNING + 1, "and its level");
	waited(200, 200);
	ok(matches(work_waits, false), "all tasks wait for 20 %% of the time");
	is_u64(f.severity, SEVERITY_CRITICAL, "critical");
	is_str(f.title, "memory pressure: PSI some 20 % (tasks wait for memory)", "its title");
	is_str(finding_evidence(&f, "direct reclaims"), "0/s", "no direct reclaim");
	is_str(finding_evidence(&f, "waits for compaction"), "0/s", "nor a wait for compaction");
	p.now.n[HOST_DIRECT_STALLS] = p.now.n[HOST_COMPACT_STALLS] = FIGURE_UNKNOWN;
	matches(work_waits, false);
	is_str(finding_evidence(&f, "direct reclaims"), "none", "which are not counted");
	is_str(finding_evidence(&f, "waits for compaction"), "none", "neither of them");
	waited(99, 0);
	ok(!matches(work_waits, false), "some wait for less than 10 %%");
	waited(100, 0);
	ok(matches(work_waits, false), "some wait for 10 %%");
	waited(49, 0);
	ok(!matches(work_waits, true), "less than half of it: it closes");
	waited(50, 0);
	ok(matches(work_waits, true), "half of it: it stays");
	end();
}

/* A finding that explains the pressure better is told alone, while it is open. */
static void test_told_better(void)
{
	static const char *const ids[] = {"P05", "P06", "P07", "P24"};
	static struct finding better;

	begin();
	waited(100, 0);
	fs = (struct findings){.f = &better, .n = 1};
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		for (size_t k = 0; k < nr_rules; k++)
			if (!strcmp(rules[k].id, ids[i]))
				better.rule = &rules[k];
		better.open = true;
		ok(matches(work_waits, false) == (i == 3), "%s is open", ids[i]);
		better.open = false;
		ok(matches(work_waits, false), "%s was open", ids[i]);
	}
	fs = (struct findings){};
	end();
}

static void test_page_cache(void)
{
	static const struct {
		uint64_t refaults, in, some_ms;
		bool opens;
		const char *name;
	} rows[] = {
		{2000, 0, 100, true, "200 pages are read again, 10 % of the time"},
		{1999, 0, 100, false, "a page less"},
		{2000, 500, 100, true, "a quarter as many are swapped in"},
		{2000, 501, 100, false, "more than a quarter: it is swap thrashing"},
		{2000, 0, 99, false, "tasks wait less"},
	};

	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		came(HOST_REFAULT_FILE, rows[i].refaults);
		came(HOST_SWAP_IN, rows[i].in);
		waited(rows[i].some_ms, 0);
		ok(matches(cache_thrashes, false) == rows[i].opens, "%s", rows[i].name);
	}
	came(HOST_REFAULT_FILE, 1000);
	came(HOST_SWAP_IN, 0);
	waited(50, 0);
	ok(matches(cache_thrashes, true), "half of both: it stays");
	is_str(finding_evidence(&f, "read again after reclaim (refaults)"), "400 KiB/s",
	       "how much");
	is_str(finding_evidence(&f, "major faults"), "0/s", "no major fault");
	p.now.n[HOST_MAJOR] = FIGURE_UNKNOWN;
	matches(cache_thrashes, true);
	is_str(finding_evidence(&f, "major faults"), "none", "major faults that are not counted");
	came(HOST_REFAULT_FILE, 999);
	ok(!matches(cache_thrashes, true), "a page less: it closes");
	end();
}

static void test_numa(void)
{
	begin();
	came(HOST_NUMA_HINTS, 100000);
	came(HOST_NUMA_LOCAL, 40000);
	came(HOST_NUMA_MIGRATED, 5000);
	ok(matches(pages_migrate, false), "10,000 hint faults, a twentieth migrates");
	is_str(finding_evidence(&f, "hint faults on another node"), "6,000/s",
	       "those of another node");
	is_str(finding_evidence(&f, "migrated"), "1.95 MiB/s", "what migrates");
	came(HOST_NUMA_LOCAL, 100001);
	ok(matches(pages_migrate, false), "the counters were read at different times");
	is_str(finding_evidence(&f, "hint faults on another node"), "0/s",
	       "no fault of another node");
	came(HOST_NUMA_MIGRATED, 4999);
	ok(!matches(pages_migrate, false), "fewer migrate");
	came(HOST_NUMA_MIGRATED, 5000);
	came(HOST_NUMA_HINTS, 99999);
	ok(!matches(pages_migrate, false), "fewer hint faults");
	end();
}

/* The machine has 800 MiB of memory and 200 MiB of swap, so 10 MiB are one percent. */
static void test_left(void)
{
	static const struct {
		uint64_t available, swap_free;
		bool opens, stays;
		enum severity severity;
		const char *name;
	} rows[] = {
		{50 * MIB, 50 * MIB, true, true, SEVERITY_WARNING, "10 % are left"},
		{50 * MIB + 1, 50 * MIB, false, true, SEVERITY_WARNING, "a byte more"},
		{70 * MIB, 50 * MIB, false, true, SEVERITY_WARNING, "12 %: it stays"},
		{70 * MIB, 50 * MIB + 1, false, false, SEVERITY_WARNING, "a byte more: it closes"},
		{50 * MIB, 0, true, true, SEVERITY_CRITICAL, "5 %"},
		{50 * MIB, 1, true, true, SEVERITY_WARNING, "5 % and a byte"},
		{0, 0, false, false, SEVERITY_WARNING, "not known"},
	};
	struct subject s = {};

	begin();
	m.tick.limits.mem_total_bytes = 800 * MIB;
	m.tick.limits.swap_total_bytes = 200 * MIB;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.tick.limits.mem_available_bytes = rows[i].available;
		m.tick.limits.swap_free_bytes = rows[i].swap_free;
		ok(matches(memory_is_near_its_end, true) == rows[i].stays, "%s", rows[i].name);
		ok(matches(memory_is_near_its_end, false) == rows[i].opens, "%s", rows[i].name);
		ok(!rows[i].opens || f.severity == rows[i].severity, "%s: severity", rows[i].name);
		ok(memory_is_short(&m, &s) == rows[i].opens, "%s: room for page cache",
		   rows[i].name);
	}
	came(HOST_SWAP_IN, 500);
	came(HOST_SWAP_OUT, 100);
	ok(memory_is_short(&m, &s), "pages are swapped in and out");
	came(HOST_SWAP_IN, 499);
	ok(!memory_is_short(&m, &s), "fewer are swapped in");
	came(HOST_SWAP_IN, 500);
	came(HOST_SWAP_OUT, 99);
	ok(!memory_is_short(&m, &s), "fewer are swapped out");
	end();
}

/* Adds the cgroup /a with a limit of 1000 MiB. */
static struct level *level(uint64_t anon)
{
	struct level *l = &p.level[0];

	p.levels = 1;
	*l = (struct level){.id.start_ns = 1};
	memset(l->now.n, 0xff, sizeof(l->now.n));
	memset(l->base.n, 0xff, sizeof(l->base.n));
	l->base.h.t_ns = SECOND;
	l->now.h.t_ns = (1 + SPAN_S) * SECOND;
	l->now.some.known = l->now.full.known = 1;
	strcpy(l->now.path, "/a");
	l->now.n[CGROUP_LIMIT] = 1000 * MIB;
	l->now.n[CGROUP_USED] = anon;
	l->now.n[CGROUP_ANON] = anon;
	return l;
}

static bool level_matches(rule_test *test, const struct finding *open)
{
	struct occasion o = {.m = &m, .findings = &fs, .level = &p.level[0]};

	return judged(test, &o, open);
}

static void test_cgroup_of_process(void)
{
	char cgroup[] = "/a/b";
	struct subject s = {.cgroup = cgroup};

	begin();
	level(900 * MIB);
	ok(memory_is_short(&m, &s), "90 %% of the limit are not reclaimable");
	level(900 * MIB - 1);
	ok(!memory_is_short(&m, &s), "a byte less");
	level(900 * MIB);
	strcpy(cgroup, "/b");
	ok(!memory_is_short(&m, &s), "the process is in another cgroup");
	end();
}

static void test_throttled(void)
{
	static const struct {
		uint64_t used, times, some_ms;
		bool opens, stays;
		const char *name;
	} rows[] = {
		{950 * MIB, 50, 100, true, true, "95 % of memory.high, 5 times a second"},
		{950 * MIB - 1, 50, 100, false, false, "a byte less"},
		{950 * MIB, 49, 100, false, true, "less often"},
		{950 * MIB, 50, 99, false, true, "tasks wait less"},
		{950 * MIB, 25, 50, false, true, "half of both: it stays"},
		{950 * MIB, 24, 50, false, false, "less often than half: it closes"},
		{950 * MIB, 25, 49, false, false, "a shorter wait than half: it closes"},
	};
	struct level *l;

	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		l = level(rows[i].used);
		l->now.n[CGROUP_HIGH] = 1000 * MIB;
		l->base.n[CGROUP_TIMES_HIGH] = 0;
		l->now.n[CGROUP_TIMES_HIGH] = rows[i].times;
		l->now.some.total_us = rows[i].some_ms * 1000 * SPAN_S;
		ok(level_matches(cgroup_is_throttled, NULL) == rows[i].opens, "%s", rows[i].name);
		ok(level_matches(cgroup_is_throttled, &was_open) == rows[i].stays, "%s, open",
		   rows[i].name);
	}
	l->now.n[CGROUP_TIMES_HIGH] = 50;
	l->now.some.known = 0;
	ok(level_matches(cgroup_is_throttled, NULL), "without PSI, the events alone count");
	ok(finding_advises(&f, "MemoryHigh=1572864000"), "half as much more");
	l->now.n[CGROUP_HIGH] = FIGURE_UNKNOWN;
	ok(!level_matches(cgroup_is_throttled, NULL), "no memory.high");
	end();
}

static void test_filled(void)
{
	static const struct {
		uint64_t anon;
		uint32_t level; /* 0: no finding */
		const char *name;
	} rows[] = {
		{800 * MIB - 1, 0, "less than 80 %"}, {800 * MIB, 1, "80 %"},
		{920 * MIB - 1, 1, "less than 92 %"}, {920 * MIB, 2, "92 %"},
		{970 * MIB - 1, 2, "less than 97 %"}, {970 * MIB, 3, "97 %"},
	};
	struct finding open = {.level = 3};
	struct level *l;

	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		l = level(rows[i].anon);
		l->now.n[CGROUP_SWAP_LIMIT] = 0;
		ok(level_matches(cgroup_fills, NULL) == !!rows[i].level, "%s", rows[i].name);
		is_u64(f.level, rows[i].level, "its level");
		l->now.n[CGROUP_ANON] = rows[i].anon - 30 * MIB;
		open.level = 3;
		level_matches(cgroup_fills, &open);
		is_u64(f.level, rows[i].level, "an open finding falls three points later");
	}
	open.level = 2;
	level(940 * MIB);
	p.level[0].now.n[CGROUP_SWAP_LIMIT] = 0;
	level_matches(cgroup_fills, &open);
	is_u64(f.level, 2, "but it does not rise earlier");
	l = level(970 * MIB);
	m.tick.limits.swap_free_bytes = 100 * MIB;
	ok(level_matches(cgroup_fills, NULL), "a tenth of the limit is free in swap");
	is_u64(f.severity, SEVERITY_CRITICAL, "the OOM killer kills");
	ok(strstr(f.title, "the OOM killer kills"), "its title: %s", f.title);
	m.tick.limits.swap_free_bytes++;
	ok(level_matches(cgroup_fills, NULL), "more than a tenth");
	is_u64(f.severity, SEVERITY_WARNING, "it swaps");
	ok(strstr(f.title, "at 100 % it swaps"), "its title: %s", f.title);
	l->now.n[CGROUP_SWAP_LIMIT] = 0;
	ok(level_matches(cgroup_fills, NULL), "a cgroup that must not swap");
	is_u64(f.severity, SEVERITY_CRITICAL, "the OOM killer kills");
	ok(finding_advises(&f, "needed: 200 MiB more in memory.max or as much swap"),
	   "a fifth more");
	l->base.n[CGROUP_TIMES_MAX] = l->now.n[CGROUP_TIMES_MAX] = 5;
	level_matches(cgroup_fills, NULL);
	is_str(finding_evidence(&f, "limit reached"), "none", "the limit was not reached");
	l->now.n[CGROUP_TIMES_MAX] = 25;
	level_matches(cgroup_fills, NULL);
	is_str(finding_evidence(&f, "limit reached"), "2.0/s", "it was, twice a second");
	l->now.n[CGROUP_SHMEM] = 1;
	l->now.n[CGROUP_SWAP_USED] = 0;
	level_matches(cgroup_fills, NULL);
	is_str(finding_evidence(&f, "shared memory and tmpfs"), "1 B",
	       "a byte of shared memory is shown");
	is_str(finding_evidence(&f, "swapped out"), "none", "nothing of swap is not");
	end();
}

static void test_tmpfs(void)
{
	static const struct {
		uint64_t used;
		uint32_t level;
		const char *name;
	} rows[] = {
		{7999, 0, "less than 80 %"}, {8000, 1, "80 %"},
		{8999, 1, "less than 90 %"}, {9000, 2, "90 %"},
		{9799, 2, "less than 98 %"}, {9800, 3, "98 %"},
	};
	struct mount_use u = {.now = {.size_bytes = 10000, .flags = MOUNT_IN_MEMORY}};
	struct occasion o = {.m = &m, .findings = &fs, .mount = &u};

	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		u.now.used_bytes = rows[i].used;
		ok(judged(tmpfs_fills, &o, NULL) == !!rows[i].level, "%s", rows[i].name);
		is_u64(f.level, rows[i].level, "its level");
	}
	is_u64(f.severity, SEVERITY_CRITICAL, "the last level is critical");
	u.now.flags = 0;
	ok(!judged(tmpfs_fills, &o, NULL), "a file system on a disk");
	end();
}

/* The cgroup with the most pressure is named if it has more than half of the host's. */
static void test_where(void)
{
	struct level *l;

	begin();
	waited(200, 0);
	l = level(0);
	l->now.some.total_us = 100 * 1000 * SPAN_S;
	matches(work_waits, false);
	is_str(finding_evidence(&f, "cgroup with the most pressure"), "none",
	       "half of the host's pressure");
	l->now.some.total_us++;
	matches(work_waits, false);
	is_str(finding_evidence(&f, "cgroup with the most pressure"), "/a: 0 B of 1000 MiB",
	       "more than half");
	p.level[1] = p.level[0];
	p.levels = 2;
	strcpy(p.level[1].now.path, "/b");
	matches(work_waits, false);
	is_str(finding_evidence(&f, "cgroup with the most pressure"), "/a: 0 B of 1000 MiB",
	       "of two, the first");
	p.level[1].now.some.total_us++;
	p.level[1].now.n[CGROUP_LIMIT] = FIGURE_UNKNOWN;
	matches(work_waits, false);
	is_str(finding_evidence(&f, "cgroup with the most pressure"), "/b: 0 B",
	       "the one with more pressure");
	end();
}

/* Constant pressure of 10 % that began t seconds ago shows as 10 % (1 - exp(-t / 300)). */
static void test_since(void)
{
	struct shortage s;

	begin();
	p.now.some.avg10 = 200;
	shortage_of(&m, &fs, &s);
	ok(s.since_seconds == 0 && !s.since_longer, "2 %% of the time, which has just begun");
	p.now.some.avg10 = 199;
	shortage_of(&m, &fs, &s);
	ok(s.since_seconds == -1, "less than 2 %% is no pressure");
	p.now.some.avg60 = 10000;
	p.now.some.avg10 = 5000;
	p.now.some.avg300 = 6321;
	shortage_of(&m, &fs, &s);
	ok(s.since_seconds > 299 && s.since_seconds < 301, "63 %% of the pressure: 300 s: %f",
	   s.since_seconds);
	p.now.some.avg300 = 9502;
	shortage_of(&m, &fs, &s);
	ok(!s.since_longer && s.since_seconds < 900, "95.02 %%: not yet 900 s");
	p.now.some.avg300 = 9503;
	shortage_of(&m, &fs, &s);
	ok(s.since_longer && s.since_seconds == 900, "95.03 %%: 900 s or longer");
	p.now.some.known = 0;
	shortage_of(&m, &fs, &s);
	ok(s.since_seconds == -1 && s.some == -1, "without PSI, nothing is known");
	end();
}

static void test_help(void)
{
	begin();
	f = (struct finding){};
	pressure_help_room(&f, &m, GIB, "swap");
	ok(finding_advises(&f, "fallocate -l 1024M /swapfile2"), "1 GiB, in MiB");
	f = (struct finding){};
	pressure_help_room(&f, &m, GIB + 1, "swap");
	ok(finding_advises(&f, "fallocate -l 2G /swapfile2"), "more, in whole GiB");
	f = (struct finding){};
	pressure_help_room(&f, &m, 1, "swap");
	ok(finding_advises(&f, "fallocate -l 1M /swapfile2"), "a byte, in whole MiB");
	f = (struct finding){};
	pressure_help_room(&f, &m, 0, "swap");
	is_u64(f.nr_remedies, 0, "nothing is missing");
	m.tick.limits.mem_available_bytes = 0;
	pressure_help_growth(&f, &m, MIB - 1, 1, "memory");
	is_u64(f.nr_remedies, 0, "less than 1 MiB is not worth it");
	pressure_help_growth(&f, &m, MIB, 0, "memory");
	is_u64(f.nr_remedies, 0, "nothing grows");
	pressure_help_growth(&f, &m, MIB, MIB / 4, "memory");
	ok(finding_advises(
		   &f, "1.00 MiB more memory would last about 4.0 s, at the observed growth of 256 "
		       "KiB/s"),
	   "1 MiB is");
	m.tick.limits.mem_available_bytes = 2 * MIB;
	f = (struct finding){};
	pressure_help_growth(&f, &m, 3 * MIB, MIB, "memory");
	ok(finding_advises(&f, "2.00 MiB more memory would last about 2.0 s"),
	   "no more than is available");
	f = (struct finding){};
	pressure_help_growth(&f, &m, 3 * MIB, MIB, "swap");
	ok(finding_advises(&f, "3.00 MiB more swap would last about 3.0 s"), "swap may be more");
	end();
}

int main(void)
{
	test_swap();
	test_swap_without_psi();
	test_severity();
	test_told_better();
	test_page_cache();
	test_numa();
	test_left();
	test_cgroup_of_process();
	test_throttled();
	test_filled();
	test_tmpfs();
	test_where();
	test_since();
	test_help();
	return tap_done();
}
