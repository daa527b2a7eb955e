// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which process finding P17 oom-killed names as the one that grew, just below and at each
 * bound: shares of the limit, half of the victim's memory, half of the largest growth. Tests when
 * tmpfs files are to blame.
 */
#include "fixture.h"
#include "model/pressure.h"
#include "rules/pressure_rules.h"
#include "tap.h"
#include "finding_text.h"

#define PAGE   4096ULL
#define MIB    (1ULL << 20)
#define LIMIT  (800 * MIB)
#define VICTIM 20
#define OTHER  30
#define KILL_S 20

static struct model m;
static struct pressure p;
static struct finding f;
static struct oom_record r;
static struct subject victim;
static char cgroup[] = "/a";

/*
 * Begins a kill. The victim held `anon` bytes. Another process, which no scan has seen, requested
 * memory, and held `kept` bytes: all of that is growth.
 */
static void begin(uint64_t anon, uint64_t kept)
{
	begin_model(&m, NULL);
	m.pressure = &p;
	memset(&p, 0, sizeof(p));
	m.tick.limits.mem_total_bytes = LIMIT;
	m.tick.limits.page_bytes = PAGE;
	victim = (struct subject){.id = {.pid = VICTIM, .start_ns = 1}, .cgroup = cgroup};
	victim.now.t_ns = SECOND;
	victim.now.g.rss_anon_pages = anon / PAGE;
	r = RECORD(oom_record, RECORD_OOM, KILL_S * SECOND);
	r.subject = victim.id;
	r.rss_anon_pages = anon / PAGE;
	r.by = OTHER;
	r.by_kept_pages = kept / PAGE;
	strcpy(r.comm, "victim");
	strcpy(r.by_comm, "other");
}

/* Judges the kill. `seen`: the last scan saw the victim with the same memory, so it did not grow.
 */
static void judge(const char *cause, bool seen)
{
	struct verdict v = {.cause = cause};
	struct occasion o = {
		.m = &m, .s = seen ? &victim : NULL, .oom = &r, .verdict = &v, .t_ns = r.h.t_ns};

	f = (struct finding){};
	ok(oom_killed(&o, NULL, &f), "a kill is a finding");
}

static void end(void)
{
	m.pressure = NULL;
	model_free(&m);
}

static void is_grower(const char *want, const char *name)
{
	is_str(finding_evidence(&f, "largest growth before the kill"), want, name);
}

/* Who grew by more than half of the largest growth is the victim of its own growth. */
static void test_victim(void)
{
	begin(100 * MIB, 200 * MIB);
	judge("none", false);
	is_grower("other[30], new: all its memory: 200 MiB",
		  "the victim grew by just half as much");
	ok(finding_advises(&f, "other[30] grew, not the killed process"),
	   "advice: for the other process");
	r.rss_anon_pages++;
	judge("none", false);
	is_grower("victim[20] (the victim), new: all its memory: 100 MiB", "by a page more");
	ok(finding_advises(&f, "the killed process itself grew"), "advice: for the victim");
	r.rss_anon_pages = -1;
	judge("none", false);
	is_grower("other[30], new: all its memory: 200 MiB", "a counter may be below 0");
	is_str(finding_evidence(&f, "memory of the victim"), "0 B", "which counts as 0");
	end();
}

/* Growth by less than 1 MiB is none, even if the limit is small. */
static void test_least(void)
{
	begin(0, MIB);
	m.tick.limits.mem_total_bytes = 4 * MIB;
	judge("none", true);
	is_grower("other[30], new: all its memory: 1.00 MiB", "1 MiB counts");
	r.by_kept_pages--;
	judge("none", true);
	is_grower("none", "a page less does not");
	end();
	begin(MIB, 0);
	m.tick.limits.mem_total_bytes = 4 * MIB;
	judge("none", false);
	is_grower("victim[20] (the victim), new: all its memory: 1.00 MiB", "1 MiB of the victim");
	r.rss_anon_pages--;
	r.by_kept_pages = 1;
	judge("none", false);
	is_grower("none", "1 MiB in all, of which neither has enough");
	end();
}

/* A process counts if it holds an eighth of the limit, or half as much as the victim. */
static void test_share(void)
{
	static const struct {
		uint64_t victim, other;
		bool counts;
		const char *name;
	} rows[] = {
		{300 * MIB, 100 * MIB, true, "an eighth of the limit"},
		{300 * MIB, 100 * MIB - PAGE, false,
		 "a page less, and less than half of the victim"},
		{198 * MIB, 99 * MIB, true, "half as much as the victim"},
		{198 * MIB, 99 * MIB - PAGE, false, "a page less"},
		{10 * MIB, 25 * MIB, true, "growth by a 32nd of the limit within 5 s"},
		{10 * MIB, 25 * MIB - PAGE, false, "growth by a page less"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].victim, rows[i].other);
		judge("none", true);
		ok(!strncmp(finding_evidence(&f, "largest growth before the kill"), "other[30]",
			    9) == rows[i].counts,
		   "%s", rows[i].name);
		ok(finding_advises(&f, "other[30] grew") == rows[i].counts, "%s: advice",
		   rows[i].name);
		ok(finding_advises(&f, "no process grew") != rows[i].counts, "%s: no process",
		   rows[i].name);
		end();
	}
}

/* faultscope often starts when memory is short: it counts only with half of the limit. */
static void test_this_program(void)
{
	begin(10 * MIB, 400 * MIB);
	strcpy(r.by_comm, "faultscope");
	judge("none", true);
	is_grower("faultscope[30], new: all its memory: 400 MiB", "half of the limit");
	r.by_kept_pages--;
	judge("none", true);
	is_grower("none", "a page less");
	strcpy(r.by_comm, "faultscop");
	judge("none", true);
	is_grower("faultscop[30], new: all its memory: 400 MiB", "another program");
	end();
}

/* A victim that no scan saw change for 5 s did not grow in this time. */
static void test_unchanged(void)
{
	begin(200 * MIB, 0);
	victim.now.t_ns = (KILL_S - 5) * SECOND;
	judge("none", true);
	is_grower("none", "the last change was 5 s ago");
	r.rss_anon_pages += 25 * MIB / PAGE;
	judge("none", true);
	is_grower("victim[20] (the victim): 25.0 MiB", "it grew since");
	is_str(finding_evidence(&f, "time of this growth"), "5.0 s", "in 5 s");
	r.rss_anon_pages--;
	judge("none", true);
	is_grower("none", "by a page less than a 32nd of the limit");
	end();
}

/*
 * The growth since the older of two earlier scans counts, or since the newer one if that is 5 s
 * old. A program that exec() started had no memory before.
 */
static void test_recent(void)
{
	static const struct {
		uint64_t newer_ns, exec_ns;
		const char *grown, *time;
		const char *name;
	} rows[] = {
		{15 * SECOND, 0, "50.0 MiB", "5.0 s", "the newer scan is 5 s old"},
		{15 * SECOND + 1, 0, "100 MiB", "15 s", "it is less than 5 s old"},
		{15 * SECOND, 15 * SECOND, "200 MiB", "5.0 s", "exec() at the time of the scan"},
		{15 * SECOND, 15 * SECOND - 1, "50.0 MiB", "5.0 s", "exec() before the scan"},
	};
	struct earlier earlier = {};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[80];

		begin(200 * MIB, 0);
		victim.earlier = &earlier;
		victim.now.t_ns = 18 * SECOND;
		victim.exec_ns = rows[i].exec_ns;
		earlier.recent[0] = (struct past){.t_ns = 5 * SECOND, .kept_pages = 100 * 256};
		earlier.recent[1] =
			(struct past){.t_ns = rows[i].newer_ns, .kept_pages = 150 * 256};
		judge("none", true);
		snprintf(want, sizeof(want), "victim[20] (the victim): %s", rows[i].grown);
		is_grower(want, rows[i].name);
		is_str(finding_evidence(&f, "time of this growth"), rows[i].time, "in which time");
		end();
	}
	begin(200 * MIB, 0);
	victim.earlier = &earlier;
	victim.now.t_ns = 15 * SECOND;
	judge("none", true);
	is_grower("none", "the last change was 5 s ago");
	victim.now.t_ns++;
	judge("none", true);
	is_grower("victim[20] (the victim): 50.0 MiB", "it was later");
	end();
}

/* Growth within half a minute counts only if the process still grows. */
static void test_minute(void)
{
	struct earlier earlier = {};

	begin(200 * MIB, 0);
	r.h.t_ns = 100 * SECOND;
	victim.earlier = &earlier;
	victim.now.t_ns = 98 * SECOND;
	earlier.past[0] = (struct past){.t_ns = 60 * SECOND, .kept_pages = 100 * 256};
	earlier.past[1] = (struct past){.t_ns = 70 * SECOND, .kept_pages = 150 * 256};
	earlier.recent[0] = (struct past){.t_ns = 90 * SECOND, .kept_pages = 200 * 256};
	earlier.recent[1] = (struct past){.t_ns = 95 * SECOND, .kept_pages = 200 * 256 - 1};
	judge("none", true);
	is_grower("victim[20] (the victim): 50.0 MiB", "it grew by a page in the last 5 s");
	is_str(finding_evidence(&f, "time of this growth"), "30 s", "in which time");
	earlier.recent[1].kept_pages++;
	judge("none", true);
	is_grower("none", "it grew no more in the last 5 s");
	r.by = VICTIM;
	judge("none", true);
	is_grower("victim[20] (the victim): 50.0 MiB", "but it requested memory");
	end();
}

/* The process that requested memory may have grown since the last scan, which saw it. */
static void test_requester(void)
{
	struct process_record p30 = process_record(OTHER, 1, SECOND);

	begin(10 * MIB, 150 * MIB);
	p30.g.rss_anon_pages = 50 * 256;
	model_take(&m, &p30.h);
	p30.subject.pid = OTHER + 1;
	model_take(&m, &p30.h);
	m.last_ns = 19 * SECOND;
	m.prev_ns = 18 * SECOND;
	judge("none", true);
	is_grower("proc30[30]: 100 MiB", "by what it held more than at the last scan");
	is_str(finding_evidence(&f, "time of this growth"), "1.0 s", "since the last scan");
	m.last_ns = 20 * SECOND;
	judge("none", true);
	is_str(finding_evidence(&f, "time of this growth"), "2.0 s",
	       "a scan at the time of the kill is not before it: since the scan before");
	r.by_kept_pages--;
	judge("none", true);
	is_grower("proc30[30]: 100 MiB", "an eighth of the limit less a page, since 5 s");
	r.by_kept_pages = 40 * 256;
	judge("none", true);
	is_grower("none", "fewer pages than the last scan saw are no growth");
	r.by_kept_pages = 150 * 256;
	model_find(&m, &(struct process_key){.pid = OTHER, .start_ns = 1})->final = true;
	judge("none", true);
	is_grower("other[30], new: all its memory: 150 MiB", "another process had this pid before");
	end();
}

/* The last scan may have seen more pages than the kernel's counters, which lag. */
static void test_counters_lag(void)
{
	begin(200 * MIB, 100 * MIB);
	victim.now.g.rss_anon_pages = 200 * MIB / PAGE + 1;
	judge("none", true);
	is_grower("other[30], new: all its memory: 100 MiB", "the victim did not shrink");
	end();
}

/* Sets the values of the cgroup /a, whose limit was reached. */
static void begin_cgroup(uint64_t anon, uint64_t kept, uint64_t shmem)
{
	struct level *l = &p.level[0];

	begin(anon, kept);
	p.levels = 1;
	memset(l->now.n, 0xff, sizeof(l->now.n));
	strcpy(l->now.path, cgroup);
	l->now.n[CGROUP_LIMIT] = LIMIT;
	l->now.n[CGROUP_SHMEM] = shmem;
	r.memory = (struct level_room){.used = LIMIT / PAGE, .limit = LIMIT / PAGE, .known = 1};
}

#define REMOVE_FILES "remove files of tmpfs, or keep them on a disk"

/* tmpfs files are to blame if they have a quarter of the limit, and more than each process. */
static void test_tmpfs(void)
{
	static const struct {
		uint64_t victim, other, shmem;
		bool filled;
		const char *name;
	} rows[] = {
		{100 * MIB, 0, 200 * MIB, true, "a quarter of the limit"},
		{100 * MIB, 0, 200 * MIB - 1, false, "a byte less"},
		{300 * MIB, 0, 300 * MIB, false, "as much as the victim"},
		{300 * MIB, 0, 300 * MIB + 1, true, "a byte more than the victim"},
		{100 * MIB, 300 * MIB, 300 * MIB, false, "as much as the process that grew"},
		{100 * MIB, 300 * MIB, 300 * MIB + 1, true, "a byte more than it"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_cgroup(rows[i].victim, rows[i].other, rows[i].shmem);
		judge("memcg", true);
		ok(finding_advises(&f, REMOVE_FILES) == rows[i].filled, "%s", rows[i].name);
		ok(!strcmp(finding_evidence(&f, "shared memory and tmpfs in its cgroup"), "none") ==
			   (rows[i].shmem < 200 * MIB),
		   "%s: a quarter of the limit is shown", rows[i].name);
		ok(finding_advises(&f, "remove files of /dev/shm") ==
			   (!rows[i].filled && rows[i].shmem >= 200 * MIB),
		   "%s: files that are not to blame", rows[i].name);
		end();
	}
	begin_cgroup(10 * MIB, 0, 300 * MIB);
	r.rss_shmem_pages = 100 * MIB / PAGE;
	judge("memcg", true);
	is_str(finding_evidence(&f, "tmpfs mapped by no process"), "200 MiB",
	       "the victim maps 100 MiB");
	ok(finding_advises(&f, "200 MiB of the 800 MiB are tmpfs files"), "the rest is a quarter");
	r.rss_shmem_pages++;
	judge("memcg", true);
	ok(!finding_advises(&f, REMOVE_FILES), "the victim maps a page more");
	r.rss_shmem_pages = 301 * MIB / PAGE;
	judge("memcg", true);
	is_str(finding_evidence(&f, "tmpfs mapped by no process"), "0 B",
	       "it maps more than was counted");
	end();
}

/* If no process grew, memory that belongs to no observed process may be the reason. */
static void test_unseen(void)
{
	begin_cgroup(400 * MIB, 0, 0);
	judge("memcg", true);
	ok(finding_advises(&f, "no process grew"), "half of the limit is not seen");
	is_str(f.title, "killed by the OOM killer: memory.max of its cgroup reached", "its title");
	is_str(f.cause, "cgroup_memory", "its cause");
	r.memory.used++;
	judge("memcg", true);
	ok(finding_advises(&f, "400 MiB of the 800 MiB belong to no observed process"),
	   "a page more");
	judge("none", true);
	ok(!finding_advises(&f, "no observed process"), "the limit of a cgroup was not reached");
	ok(!f.cause, "no cause");
	end();
}

static void test_titles(void)
{
	static const struct {
		const char *cause, *title;
	} rows[] = {
		{"none", "killed by the OOM killer: the host's memory and swap are exhausted"},
		{"cpuset", "killed by the OOM killer: the memory of its NUMA nodes is exhausted "
			   "(cpuset or memory policy)"},
		{NULL, "killed by the OOM killer: the limit is not known"},
	};

	begin(MIB, MIB);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		judge(rows[i].cause, true);
		is_str(f.title, rows[i].title, "the limit that was reached");
		is_u64(f.severity, SEVERITY_CRITICAL, "critical");
	}
	is_str(finding_evidence(&f, "process that requested memory"), "other[30]",
	       "who requested memory");
	is_str(finding_evidence(&f, "cgroup"), "/a", "the cgroup of the victim");
	r.sent = 15;
	judge("none", true);
	is_str(f.title, "killed by other[30] (SIGTERM), not by the kernel's OOM killer",
	       "a program");
	end();
	begin_cgroup(MIB, MIB, 0);
	strcpy(cgroup, "/");
	r.memory.up = 1;
	judge("memcg", true);
	is_str(f.title, "killed by the OOM killer: memory.max of its cgroup reached",
	       "there is no level above");
	is_u64(f.limit_up, 1, "as the record says");
	end();
}

int main(void)
{
	test_victim();
	test_least();
	test_share();
	test_this_program();
	test_unchanged();
	test_recent();
	test_minute();
	test_requester();
	test_counters_lag();
	test_tmpfs();
	test_unseen();
	test_titles();
	return tap_done();
}
