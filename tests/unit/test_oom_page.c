// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the post-mortem of OOM kills: scope, kind of memory, holder and blame, from given records.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "model/oom_kills.h"
#include "rules/oom_page.h"
#include "tap.h"

#define PAGE   4096ULL
#define MIB    (1ULL << 20)
#define LIMIT  (100 * MIB)
#define KILLED 50
#define OTHER  60
#define KILL_S 100

static struct model m;
static struct oom_record r;
static struct oom_scene_record s;
static struct oom_page page;

static const struct process_key victim = {.pid = KILLED, .start_ns = 90 * SECOND};

/* A kill in a cgroup with a limit of 100 MiB. */
static void begin(void)
{
	begin_model(&m, NULL);
	r = (struct oom_record){.h = {RECORD_OOM, sizeof(r), KILL_S * SECOND},
				.subject = victim,
				.constraint = OOM_MEMCG,
				.by = KILLED,
				.version = 2,
				.cgroup_id = 7,
				.swap_used = UINT64_MAX,
				.swap_limit = UINT64_MAX};
	r.memory = (struct level_room){.used = LIMIT / PAGE, .limit = LIMIT / PAGE, .known = 1};
	s = (struct oom_scene_record){.h = {RECORD_OOM_SCENE, sizeof(s), KILL_S * SECOND},
				      .subject = victim,
				      .kill_ns = KILL_S * SECOND,
				      .values_ns = KILL_S * SECOND,
				      .source = OOM_FROM_LOG,
				      .in_log = 1,
				      .used = LIMIT,
				      .limit = LIMIT,
				      .swap_used = 0,
				      .swap_limit = 0,
				      .tasks = 2};
	memset(s.memory, 0xff, sizeof(s.memory));
	snprintf(s.cgroup, sizeof(s.cgroup), "/a");
}

static void holder_of(uint32_t nth, uint32_t pid, uint64_t anon, uint64_t shmem, uint64_t tables)
{
	struct oom_holder_record h = {.h = {RECORD_OOM_HOLDER, sizeof(h), KILL_S * SECOND},
				      .subject = victim,
				      .kill_ns = KILL_S * SECOND,
				      .pid = pid,
				      .nth = nth,
				      .rss = anon + shmem,
				      .anon = anon,
				      .shmem = shmem,
				      .page_tables = tables};

	s.tasks_kept_bytes += anon + shmem;
	snprintf(h.comm, sizeof(h.comm), "p%u", pid);
	model_take(&m, &h.h);
}

static void holder(uint32_t nth, uint32_t pid, uint64_t anon, uint64_t shmem)
{
	holder_of(nth, pid, anon, shmem, FIGURE_UNKNOWN);
}

static void happens(void)
{
	model_take(&m, &r.h);
	model_take(&m, &s.h);
}

static void judge(void)
{
	model_take(&m, &s.h); /* with the sums of the holders */
	oom_page_of(oom_kills_last(&m), PAGE, &page);
}

static bool advises(const char *text)
{
	for (size_t i = 0; i < page.advices; i++)
		if (strstr(page.advice[i].text, text))
			return true;
	return false;
}

static void test_victim(void)
{
	begin();
	s.memory[OOM_ANON] = 95 * MIB;
	s.memory[OOM_SHMEM] = 1 * MIB;
	happens();
	holder(0, KILLED, 94 * MIB, 0);
	holder(1, OTHER, 1 * MIB, 0);
	judge();
	is_u64(page.scope, OOM_SCOPE_CGROUP, "a cgroup's limit");
	ok(page.certain, "the kernel says so");
	is_str(page.limit_file, "memory.max", "file of the limit");
	is_u64(page.limit, LIMIT, "limit");
	is_u64(page.kind, OOM_ANON, "anonymous memory");
	is_u64(page.holder->pid, KILLED, "holder");
	is_u64(page.blame, OOM_BLAME_VICTIM, "the victim is to blame");
	is_u64(page.grown_ns, 10 * SECOND, "it grew since it started");
	ok(advises("p50 grew by 94.0 MiB in 10 s"), "advice: how fast it grew: %s",
	   page.advice[1].text);
	ok(advises("there was no swap"), "advice: swap");
	model_free(&m);
}

static void test_other(void)
{
	begin();
	s.memory[OOM_ANON] = 95 * MIB;
	happens();
	holder(0, OTHER, 80 * MIB, 0);
	holder(1, KILLED, 15 * MIB, 0);
	judge();
	is_u64(page.blame, OOM_BLAME_PROCESS, "another process is to blame");
	is_u64(page.culprit->pid, OTHER, "which one");
	ok(advises("without it, 20.0 MiB of 100 MiB would have been in use"),
	   "advice: by how much");
	model_free(&m);
}

static void test_tmpfs(void)
{
	begin();
	s.memory[OOM_ANON] = 30 * MIB;
	s.memory[OOM_SHMEM] = 65 * MIB;
	happens();
	holder(0, KILLED, 30 * MIB, 0);
	judge();
	is_u64(page.kind, OOM_SHMEM, "shared memory");
	is_u64(page.unmapped_bytes, 65 * MIB, "that no process maps");
	is_u64(page.blame, OOM_BLAME_TMPFS, "tmpfs is to blame, not the victim");
	ok(advises("without them, 35.0 MiB of 100 MiB"), "advice: by how much");
	holder(0, KILLED, 30 * MIB, 60 * MIB);
	judge();
	is_u64(page.blame, OOM_BLAME_VICTIM, "a process that maps most of it is to blame");
	model_free(&m);
}

/* Adds a process as kernels before 6.8 list it: only with its resident memory. */
static void old_holder(uint32_t nth, uint32_t pid, uint64_t rss)
{
	struct oom_holder_record h = {.h = {RECORD_OOM_HOLDER, sizeof(h), KILL_S * SECOND},
				      .subject = victim,
				      .kill_ns = KILL_S * SECOND,
				      .pid = pid,
				      .nth = nth,
				      .rss = rss,
				      .anon = FIGURE_UNKNOWN,
				      .file = FIGURE_UNKNOWN,
				      .shmem = FIGURE_UNKNOWN,
				      .page_tables = FIGURE_UNKNOWN};

	s.tasks_kept_bytes += rss;
	model_take(&m, &h.h);
}

static void old_kill(uint64_t anon, uint64_t shmem, uint64_t rss_of_other)
{
	begin();
	s.memory[OOM_ANON] = anon;
	s.memory[OOM_SHMEM] = shmem;
	happens();
	holder(0, KILLED, 10 * MIB, 0);
	old_holder(1, OTHER, rss_of_other);
	judge();
}

static void test_tmpfs_before_6_8(void)
{
	old_kill(10 * MIB, 80 * MIB, 2 * MIB);
	is_u64(page.unmapped_bytes, 78 * MIB, "a process maps at most what it has resident");
	ok(page.unmapped_at_least, "the value is a minimum");
	is_u64(page.blame, OOM_BLAME_TMPFS, "tmpfs, although the kernel lists no shared memory");
	model_free(&m);
	old_kill(40 * MIB, 50 * MIB, 34 * MIB);
	is_u64(page.unmapped_bytes, 46 * MIB, "its other resident memory is anonymous");
	is_u64(page.blame, OOM_BLAME_TMPFS, "so it does not map the files");
	model_free(&m);
	old_kill(10 * MIB, 80 * MIB, 80 * MIB);
	is_u64(page.unmapped_bytes, 0, "a process may map all of it");
	is_u64(page.blame, OOM_BLAME_PROCESS, "so it is to blame");
	model_free(&m);
}

static void test_kinds(void)
{
	static const struct {
		enum oom_memory kind;
		enum oom_blame blame;
	} rows[] = {{OOM_FILE, OOM_BLAME_CACHE},	  {OOM_SLAB, OOM_BLAME_KERNEL},
		    {OOM_SOCK, OOM_BLAME_KERNEL},	  {OOM_OTHER_KERNEL, OOM_BLAME_KERNEL},
		    {OOM_KERNEL_STACK, OOM_BLAME_KERNEL}, {OOM_HUGETLB, OOM_BLAME_HUGETLB}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		s.memory[OOM_ANON] = 30 * MIB;
		s.memory[rows[i].kind] = 60 * MIB;
		happens();
		holder(0, KILLED, 30 * MIB, 0);
		judge();
		is_u64(page.kind, rows[i].kind, oom_kind_text(rows[i].kind));
		is_u64(page.blame, rows[i].blame, oom_blame_key(rows[i].blame));
		ok(page.advices, "there is advice");
		model_free(&m);
	}
}

static void test_many(void)
{
	begin();
	s.memory[OOM_ANON] = 90 * MIB;
	s.tasks = 9;
	happens();
	for (uint32_t i = 0; i < 9; i++)
		holder(i, KILLED + i, 10 * MIB, 0);
	judge();
	is_u64(page.blame, OOM_BLAME_MANY, "many processes together");
	model_free(&m);

	begin();
	s.memory[OOM_ANON] = 90 * MIB;
	s.tasks = 0;
	happens();
	for (uint32_t i = 0; i < 9; i++)
		holder(i, KILLED + i, 10 * MIB, 0);
	judge();
	is_u64(page.blame, OOM_BLAME_MANY, "also without the kernel's report");
	model_free(&m);

	begin();
	s.memory[OOM_PAGE_TABLES] = 90 * MIB;
	s.tasks = 9;
	happens();
	for (uint32_t i = 0; i < 9; i++)
		holder_of(i, KILLED + i, MIB, 0, i ? 0 : 88 * MIB);
	judge();
	is_u64(page.blame, OOM_BLAME_VICTIM, "unless one of them has nearly all page tables");
	model_free(&m);
}

/* The largest process has held its memory for long; another one grew by a third of the limit. */
static void test_grower(void)
{
	struct oom_holder_record h;

	begin();
	s.memory[OOM_ANON] = 95 * MIB;
	happens();
	holder(0, KILLED, 55 * MIB, 0);
	holder(1, OTHER, 40 * MIB, 0);
	h = oom_kills_last(&m)->holder[0];
	h.before_ns = 50 * SECOND;
	h.before_bytes = 55 * MIB;
	model_take(&m, &h.h);
	h = oom_kills_last(&m)->holder[1];
	h.before_ns = 50 * SECOND;
	h.before_bytes = 5 * MIB;
	model_take(&m, &h.h);
	judge();
	is_u64(page.holder->pid, KILLED, "the victim holds most");
	is_u64(page.blame, OOM_BLAME_PROCESS, "but another one grew");
	is_u64(page.culprit->pid, OTHER, "which one");
	is_u64(page.grown_bytes, 35 * MIB, "by how much");
	model_free(&m);
}

/* Without the kernel's report, the page counters of the BPF program decide. */
static void test_inferred(void)
{
	begin();
	r.constraint = OOM_UNKNOWN;
	s.source = OOM_FROM_NOTHING;
	happens();
	holder(0, KILLED, 94 * MIB, 0);
	judge();
	is_u64(page.scope, OOM_SCOPE_CGROUP, "full counters: the cgroup");
	ok(!page.certain, "not certain");
	is_u64(page.kind, OOM_ANON, "the kind that the victim held");
	model_free(&m);
	begin();
	r.constraint = OOM_UNKNOWN;
	r.memory.used = r.memory.limit / 2;
	happens();
	judge();
	is_u64(page.scope, OOM_SCOPE_HOST, "room below the limit: the machine");
	model_free(&m);
	begin();
	s.used = s.limit = FIGURE_UNKNOWN;
	happens();
	holder(0, KILLED, 20 * MIB, 0);
	judge();
	ok(!page.kind_known, "a small part of the memory is not what filled it");
	is_u64(page.limit, LIMIT, "the limit of the page counters");
	model_free(&m);
}

static void test_memsw(void)
{
	begin();
	r.version = 1;
	r.memory.used = LIMIT / 2 / PAGE;
	r.swap_used = r.swap_limit = 2 * LIMIT / PAGE;
	happens();
	judge();
	ok(page.by_memsw, "cgroup v1: memory and swap together");
	is_str(page.limit_file, "memory.memsw.limit_in_bytes", "file of the limit");
	is_u64(page.limit, 2 * LIMIT, "the limit of memory and swap together");
	is_u64(page.used, 2 * LIMIT, "what memory and swap together hold");
	model_free(&m);
	begin();
	r.version = 1;
	r.memory.used = LIMIT / PAGE;
	r.swap_used = r.swap_limit = 2 * LIMIT / PAGE;
	happens();
	judge();
	ok(page.by_memsw, "both limits are reached: the larger one stopped the swapping");
	model_free(&m);
	begin();
	r.version = 1;
	r.memory.used = r.swap_used = r.swap_limit = LIMIT / PAGE;
	happens();
	judge();
	ok(!page.by_memsw, "both limits are equal: the memory limit");
	model_free(&m);
}

static void test_group(void)
{
	begin();
	r.group = 1;
	happens();
	r.subject.pid++;
	r.h.t_ns += 1000;
	model_take(&m, &r.h);
	judge();
	is_u64(m.ooms->n, 1, "one event");
	is_u64(page.kill->victims, 2, "two victims");
	is_u64(page.kill->first.subject.pid, KILLED, "the chosen one first");
	ok(advises("memory.oom.group is set"), "advice: all were killed together");
	r.h.t_ns += 2 * OOM_SAME_NS;
	model_take(&m, &r.h);
	is_u64(m.ooms->n, 2, "a later kill is another event");
	model_free(&m);
}

static void test_daemon(void)
{
	begin();
	r.sent = 15;
	r.constraint = OOM_UNKNOWN;
	r.by = OTHER;
	snprintf(r.by_comm, sizeof(r.by_comm), "earlyoom");
	happens();
	r.sent = 9;
	r.h.t_ns += 1000;
	model_take(&m, &r.h);
	judge();
	is_u64(m.ooms->n, 1, "SIGTERM and SIGKILL are one event");
	is_u64(page.kill->victims, 1, "with one victim");
	is_u64(page.scope, OOM_SCOPE_DAEMON, "no limit of the kernel was reached");
	model_free(&m);
}

static void test_many_kills(void)
{
	begin();
	for (uint32_t i = 0; i < OOM_KILLS_MAX + 5; i++) {
		r.subject.pid = 1000 + i;
		r.h.t_ns += SECOND;
		model_take(&m, &r.h);
	}
	is_u64(m.ooms->n, OOM_KILLS_MAX, "old kills are dropped");
	is_u64(oom_kills_last(&m)->first.subject.pid, 1000 + OOM_KILLS_MAX + 4,
	       "the latest is kept");
	is_u64(oom_kills_last(&m)->serial, OOM_KILLS_MAX + 5, "its number");
	model_free(&m);
}

static void test_curve(void)
{
	struct curve c = {};

	for (uint64_t i = 1; i <= 200; i++)
		curve_add(&c, i * SECOND, i);
	ok(c.n <= CURVE_POINTS, "a curve has %u points", c.n);
	is_u64(c.point[0].value, 1, "the first point is kept");
	is_u64(c.point[c.n - 1].value, 200, "and the last one");
	is_u64(c.point[c.n - 2].value, 199, "the recent past has its detail");
	curve_add(&c, SECOND, 5);
	is_u64(c.point[c.n - 1].value, 200, "an earlier time is ignored");
	curve_add(&c, 200 * SECOND + 7200 * SECOND, 9);
	is_u64(c.n, 1, "points older than an hour are dropped");
}

int main(void)
{
	test_victim();
	test_other();
	test_tmpfs();
	test_tmpfs_before_6_8();
	test_kinds();
	test_many();
	test_grower();
	test_inferred();
	test_memsw();
	test_group();
	test_daemon();
	test_many_kills();
	test_curve();
	return tap_done();
}
