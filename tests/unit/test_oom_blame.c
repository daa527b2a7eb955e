// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests who is to blame for an OOM kill, and what would have helped, just below, at and just above
 * each bound: the largest share of many processes, the growth that counts, half of the memory.
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

static struct oom_kill k;
static struct oom_page page;

/* Begins a kill in a cgroup that is full at 100 MiB. Nothing is known of its memory. */
static void begin(void)
{
	k = (struct oom_kill){.victims = 1, .has_scene = true};
	k.first = (struct oom_record){.h.t_ns = KILL_S * SECOND,
				      .subject = {.pid = KILLED, .start_ns = 90 * SECOND},
				      .constraint = OOM_MEMCG,
				      .version = 2,
				      .swap_used = UINT64_MAX,
				      .swap_limit = UINT64_MAX};
	k.first.memory =
		(struct level_room){.used = LIMIT / PAGE, .limit = LIMIT / PAGE, .known = 1};
	k.scene.used = k.scene.limit = LIMIT;
	k.scene.swap_limit = FIGURE_UNKNOWN;
	memset(k.scene.memory, 0xff, sizeof(k.scene.memory));
}

/* Adds a process that holds anonymous memory only. */
static struct oom_holder_record *holder(uint32_t pid, uint64_t anon)
{
	struct oom_holder_record *h = &k.holder[k.holders++];

	*h = (struct oom_holder_record){.pid = pid,
					.rss = anon,
					.anon = anon,
					.page_tables = FIGURE_UNKNOWN,
					.swap = FIGURE_UNKNOWN};
	snprintf(h->comm, sizeof(h->comm), "p%u", pid);
	return h;
}

/* Adds a process as kernels before 6.8 list it: only with its resident memory. */
static struct oom_holder_record *old_holder(uint32_t pid, uint64_t rss)
{
	struct oom_holder_record *h = holder(pid, FIGURE_UNKNOWN);

	h->rss = rss;
	h->shmem = FIGURE_UNKNOWN;
	return h;
}

static void judge(void)
{
	oom_page_of(&k, PAGE, &page);
}

static bool advises(const char *text)
{
	for (size_t i = 0; i < page.advices; i++)
		if (strstr(page.advice[i].text, text))
			return true;
	return false;
}

static const char *blame(void)
{
	static char text[200];
	struct buf b = BUF_IN(text);

	judge();
	oom_put_blame(&b, &page);
	return text;
}

/* At least eight processes, none of which holds a quarter of the memory, are to blame together. */
static void test_many(void)
{
	static const struct {
		uint32_t tasks;
		uint64_t largest, all;
		const char *want, *name;
	} rows[] = {
		{8, 20 * MIB - 1, 80 * MIB, "8 processes together: none of them holds much",
		 "eight processes, each with less than a quarter"},
		{7, 20 * MIB - 1, 80 * MIB, "the killed process itself", "seven processes"},
		{8, 20 * MIB, 80 * MIB, "the killed process itself", "one has a quarter"},
		{8, 20 * MIB, 80 * MIB + 4, "8 processes together: none of them holds much",
		 "a quarter of 4 bytes more is a byte more"},
		{8, 20 * MIB, 80 * MIB + 3, "the killed process itself",
		 "of 3 bytes more it is not"},
		{8, 20 * MIB, 0, "the killed process itself", "what all hold is not known"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		k.scene.memory[OOM_ANON] = 90 * MIB;
		k.scene.tasks = rows[i].tasks;
		k.scene.tasks_kept_bytes = rows[i].all;
		holder(KILLED, rows[i].largest);
		is_str(blame(), rows[i].want, rows[i].name);
	}
}

/* Without the kernel's report, the listed processes and the kind of memory are compared. */
static void test_many_without_report(void)
{
	for (uint32_t n = 7; n <= 8; n++) {
		begin();
		k.scene.memory[OOM_ANON] = 80 * MIB;
		for (uint32_t i = 0; i < n; i++)
			holder(KILLED + i, 10 * MIB);
		judge();
		is_u64(page.blame, n == 8 ? OOM_BLAME_MANY : OOM_BLAME_VICTIM,
		       n == 8 ? "eight listed processes are many" : "seven are not");
	}
	begin();
	k.scene.memory[OOM_KERNEL_STACK] = 80 * MIB;
	k.scene.tasks = 8;
	k.scene.tasks_kept_bytes = 80 * MIB;
	holder(KILLED, MIB);
	is_str(blame(), "8 processes together: none of them holds much",
	       "many processes have many kernel stacks");
	ok(advises("limit the number of processes: 8 processes took 12.5 MiB each on average"),
	   "advice: how much each took: %s", page.advice[0].text);
	is_str(page.advice[0].command, "systemctl set-property UNIT TasksMax=NUMBER",
	       "the limit of the cgroup");
	k.first.constraint = OOM_NONE;
	judge();
	is_str(page.advice[0].command, "ps -eo comm= | sort | uniq -c | sort -rn | head",
	       "on the whole machine: count the processes");
	k.scene.tasks = 7;
	is_str(blame(), "kernel memory, which no process shows as its own",
	       "few processes with many threads");
	ok(advises("threads hold 80.0 MiB of kernel stacks"), "advice: fewer threads");
}

/* A process other than the largest is to blame if it grew much, and twice as much. */
static void test_grower(void)
{
	static const struct {
		uint64_t grown, grown_of_holder;
		uint32_t culprit;
		const char *name;
	} rows[] = {
		{25 * MIB, 0, OTHER, "growth by a quarter of the limit counts"},
		{25 * MIB - 1, 0, KILLED, "a byte less does not"},
		{30 * MIB, 15 * MIB, KILLED, "twice the growth of the largest does not"},
		{30 * MIB, 15 * MIB - 1, OTHER, "more than twice does"},
		{0, 0, KILLED, "a process that did not grow"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_holder_record *h;

		begin();
		k.scene.memory[OOM_ANON] = 95 * MIB;
		h = holder(KILLED, 55 * MIB);
		h->before_ns = 60 * SECOND;
		h->before_bytes = 55 * MIB - rows[i].grown_of_holder;
		h = holder(OTHER, 40 * MIB);
		h->before_ns = 50 * SECOND;
		h->before_bytes = 40 * MIB - rows[i].grown;
		judge();
		is_u64(page.holder->pid, KILLED, "the victim holds most");
		is_u64(page.culprit->pid, rows[i].culprit, rows[i].name);
		is_u64(page.blame, rows[i].culprit == KILLED ? OOM_BLAME_VICTIM : OOM_BLAME_PROCESS,
		       "who is to blame");
		is_u64(page.grown_bytes,
		       rows[i].culprit == KILLED ? rows[i].grown_of_holder : rows[i].grown,
		       "by how much it grew");
	}
	k.scene.limit = FIGURE_UNKNOWN;
	k.first.memory.limit = UINT64_MAX;
	k.holder[1].before_bytes = 0;
	judge();
	is_u64(page.culprit->pid, KILLED, "without a limit, no growth counts");
	is_u64(page.limit, FIGURE_UNKNOWN, "which is not known");
}

/* The holder is the process with most memory of the kind that filled the machine. */
static void test_holder(void)
{
	begin();
	k.scene.memory[OOM_ANON] = 95 * MIB;
	holder(OTHER, 30 * MIB)->shmem = 40 * MIB;
	holder(KILLED, 20 * MIB)->swap = 20 * MIB;
	judge();
	is_u64(page.holder->pid, KILLED, "swapped memory is anonymous, shared memory is not");
	k.holder[0].before_ns = 50 * SECOND;
	k.holder[0].before_bytes = 40 * MIB;
	k.holder[1].before_ns = 50 * SECOND;
	k.holder[1].before_bytes = 40 * MIB;
	judge();
	is_u64(page.culprit->pid, OTHER, "but the first process in the list grew");
	is_u64(page.grown_bytes, 30 * MIB, "by how much");
	k.holder[2] = k.holder[0];
	k.holder[2].anon = k.holder[2].shmem = LIMIT;
	judge();
	is_u64(page.holder->pid, KILLED, "an element behind the end of the list holds nothing");
	is_u64(page.grown_bytes, 30 * MIB, "and did not grow");
	k.scene.memory[OOM_ANON] = FIGURE_UNKNOWN;
	judge();
	is_u64(page.part[0].bytes, 70 * MIB, "its anonymous memory does not count");
	k.scene.memory[OOM_SHMEM] = 90 * MIB;
	judge();
	is_u64(page.unmapped_bytes, 50 * MIB, "nor does it map shared memory");
}

/* A victim of which no scan is known grew since it started. */
static void test_growth_of_victim(void)
{
	begin();
	k.scene.memory[OOM_ANON] = 95 * MIB;
	holder(KILLED, 90 * MIB);
	judge();
	is_u64(page.grown_bytes, 90 * MIB, "all its memory");
	is_u64(page.grown_ns, 10 * SECOND, "since it started");
	k.first.subject.start_ns = k.first.h.t_ns - 1;
	judge();
	is_u64(page.grown_ns, 1, "it started just before");
	k.first.subject.start_ns = k.first.h.t_ns;
	judge();
	is_u64(page.grown_bytes, 0, "a start at the time of the kill tells nothing");
	ok(advises("nobody recorded its growth. Double the limit to 200 MiB"),
	   "advice: to watch it");
	k.first.subject.start_ns = 90 * SECOND;
	k.holder[0].before_ns = 80 * SECOND;
	k.holder[0].before_bytes = 90 * MIB;
	judge();
	is_u64(page.grown_bytes, 0, "a scan has seen that it does not grow");
	k.holder[0].pid = OTHER;
	k.holder[0].before_ns = 0;
	judge();
	is_u64(page.grown_bytes, 0, "the start of another process is not known");
	is_u64(page.blame, OOM_BLAME_PROCESS, "which is to blame");
}

/* Without the kernel's report, the kind is known if the processes hold half of what was in use. */
static void test_half_of_memory(void)
{
	begin();
	holder(KILLED, 50 * MIB);
	judge();
	ok(page.kind_known, "half of the memory in use");
	is_u64(page.kind, OOM_ANON, "is anonymous");
	is_u64(page.parts, 1, "no other kind is known");
	is_u64(page.blame, OOM_BLAME_VICTIM, "the victim is to blame");
	k.holder[0].anon--;
	is_str(blame(), "not known", "a byte less: who holds the rest is not known");
	ok(!page.kind_known, "nor what it is");
	k.holder[0].swap = 1;
	judge();
	ok(page.kind_known, "a byte of swap counts too");
	k.holder[0].swap = FIGURE_UNKNOWN;
	holder(OTHER, 1)->page_tables = 7;
	k.holder[1].shmem = 9;
	k.holder[0].shmem = 8;
	judge();
	ok(page.kind_known, "so does a byte of another process");
	is_u64(page.part[0].bytes, 50 * MIB, "the sum of anonymous memory");
	is_u64(page.part[1].bytes, 9, "the largest mapping of shared memory");
	is_u64(page.part[1].kind, OOM_SHMEM, "is the second kind");
	is_u64(page.part[2].bytes, 7, "page tables");
	is_u64(page.parts, 3, "no other kind");
	k.scene.used = FIGURE_UNKNOWN;
	k.scene.limit = LIMIT;
	is_str(blame(), "the killed process itself", "what was in use is not known: who held most");
	ok(!page.kind_known, "of a kind that is not known");
}

/* Files that no process maps are to blame if they are more than half of all shared memory. */
static void test_tmpfs(void)
{
	begin();
	k.scene.memory[OOM_SHMEM] = 80 * MIB;
	holder(KILLED, MIB)->shmem = 40 * MIB;
	judge();
	is_u64(page.unmapped_bytes, 40 * MIB, "half of it is not mapped");
	is_u64(page.blame, OOM_BLAME_VICTIM, "who maps the other half is to blame");
	ok(!page.unmapped_at_least, "the kernel lists what is mapped");
	k.holder[0].shmem--;
	is_str(blame(), "tmpfs files or shared memory that no process maps", "a byte more");
	ok(advises("without them, 60.0 MiB of 100 MiB would have been in use"), "advice: how much");
	k.holder[0].shmem = 80 * MIB + 1;
	judge();
	is_u64(page.unmapped_bytes, 0, "a process maps more than there is");
	begin();
	k.scene.memory[OOM_ANON] = 30 * MIB;
	k.scene.memory[OOM_SHMEM] = 60 * MIB;
	k.scene.tasks_kept_bytes = 30 * MIB;
	old_holder(KILLED, 20 * MIB);
	judge();
	is_u64(page.unmapped_bytes, 60 * MIB, "all resident memory is anonymous");
	ok(page.unmapped_at_least, "before Linux 6.8: a minimum");
	k.scene.tasks_kept_bytes = 30 * MIB + 1;
	judge();
	is_u64(page.unmapped_bytes, 60 * MIB - 1, "a byte of it is not");
	k.scene.tasks_kept_bytes = 30 * MIB - 1;
	judge();
	is_u64(page.unmapped_bytes, 60 * MIB, "less than there is in all");
	k.scene.tasks_kept_bytes = 0;
	judge();
	is_u64(page.unmapped_bytes, 40 * MIB, "without a sum, all that it has resident");
}

/* cgroup v1: the limit of memory and swap together. The counters lag by up to 256 pages. */
static void test_memsw(void)
{
	static const struct {
		uint64_t below, swap_below, swap_limit;
		bool by_memsw;
		const char *name;
	} rows[] = {
		{0, 0, 1001, true, "the limit of both is a page larger"},
		{0, 0, 1000, false, "both limits are equal"},
		{256, 0, 1000, false, "the memory limit may just be reached"},
		{257, 0, 1000, true, "the memory limit is not reached"},
		{0, 256, 2000, true, "the limit of both may just be reached"},
		{0, 257, 2000, false, "the limit of both is not reached"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		k.first.version = 1;
		k.first.memory.limit = 1000;
		k.first.memory.used = 1000 - rows[i].below;
		k.first.swap_limit = rows[i].swap_limit;
		k.first.swap_used = rows[i].swap_limit - rows[i].swap_below;
		judge();
		ok(page.by_memsw == rows[i].by_memsw, "%s", rows[i].name);
		is_str(page.limit_file,
		       rows[i].by_memsw ? "memory.memsw.limit_in_bytes" : "memory.limit_in_bytes",
		       "the file of the limit");
		is_u64(page.limit, rows[i].by_memsw ? rows[i].swap_limit * PAGE : LIMIT,
		       "the limit in bytes");
	}
}

/* An hour's growth is named only if it is at most the limit. */
static void test_higher_limit(void)
{
	begin();
	k.scene.memory[OOM_ANON] = 95 * MIB;
	k.first.h.t_ns = 3700 * SECOND;
	k.scene.limit = 72 * MIB;
	holder(KILLED, 90 * MIB);
	k.holder[0].before_ns = 100 * SECOND;
	k.holder[0].before_bytes = 18 * MIB;
	judge();
	ok(advises("p50 grew by 72.0 MiB in 60m 00s"), "growth in an hour: %s",
	   page.advice[1].text);
	ok(advises("twice the limit (144 MiB) lasts 60m 00s longer; an hour needs 72.0 MiB more"),
	   "as much as the limit: the memory for an hour is named");
	k.holder[0].before_bytes--;
	judge();
	ok(advises("p50 grew by") && !advises("an hour needs"), "a byte more: it is not");
	k.first.constraint = OOM_NONE;
	judge();
	ok(advises("twice memory or swap (144 MiB)"), "on the whole machine: %s",
	   page.advice[1].text);
	k.first.sent = 9;
	judge();
	ok(!advises("grew by"), "a program has killed it: no limit was reached");
}

static void test_swap(void)
{
	begin();
	k.scene.memory[OOM_ANON] = 1;
	k.scene.swap_limit = 0;
	holder(KILLED, 1);
	judge();
	ok(advises("there was no swap: swap can take up to 1 B"), "no swap at all");
	k.scene.swap_limit = 1;
	judge();
	ok(!advises("there was no swap"), "a byte of swap");
	k.scene.swap_limit = FIGURE_UNKNOWN;
	judge();
	ok(!advises("there was no swap"), "swap that is not known");
}

/* What would have been in use without the memory of another process. */
static void test_without(void)
{
	begin();
	k.scene.memory[OOM_ANON] = 95 * MIB;
	holder(OTHER, LIMIT);
	judge();
	ok(advises("without it, 0 B of 100 MiB would have been in use"), "it holds everything");
	k.holder[0].anon++;
	judge();
	ok(!advises("without it"), "it seems to hold more than everything: nothing is said");
	k.holder[0].anon = LIMIT;
	k.first.score_adj = 1;
	judge();
	ok(advises("it was not killed, because its oom_score_adj is lower"), "a lower score");
	ok(advises("chose the victim because of its oom_score_adj of 1"), "the victim's score");
	k.holder[0].score_adj = 1;
	judge();
	ok(advises("it was not killed") && !advises("is lower"), "an equal score");
	k.first.score_adj = 0;
	judge();
	ok(!advises("oom_score_adj"), "the victim's score is not set");
}

static void test_victims(void)
{
	begin();
	k.scene.memory[OOM_FILE] = 60 * MIB;
	is_str(blame(), "page cache that the kernel could not drop", "page cache");
	ok(advises("the page cache is in use by running reads or writes"), "clean page cache");
	ok(advises("without this page cache, 40.0 MiB of 100 MiB"), "what it takes");
	ok(!advises("memory.oom.group") && !advises("PID 1"), "one victim, not in a container");
	k.victims = 2;
	k.first.pid_inside = 1;
	k.scene.memory[OOM_DIRTY] = MIB;
	k.scene.memory[OOM_WRITEBACK] = 2 * MIB;
	judge();
	ok(advises("the kernel killed 2 processes together"), "two victims");
	ok(advises("PID 1 of its container"), "the first process of a container");
	ok(advises("3.00 MiB of page cache was dirty or being written"), "dirty page cache");
	ok(!advises("running reads"), "which explains it");
	is_u64(page.parts, 1, "it is a part of the page cache, not a kind of its own");
	k.scene.memory[OOM_UNEVICTABLE] = MIB;
	k.scene.memory[OOM_DIRTY] = k.scene.memory[OOM_WRITEBACK] = 0;
	k.first.subject.pid = 1;
	judge();
	ok(advises("1.00 MiB is locked in memory"), "locked page cache");
	ok(!advises("running reads") && !advises("dirty"), "and nothing else");
	ok(!advises("PID 1 of its container"), "the init process of the machine has no container");
	k.first.subject.pid = KILLED;
	k.first.pid_inside = 2;
	judge();
	ok(!advises("PID 1 of its container"), "the second process of a container");
}

static void test_page_tables(void)
{
	begin();
	k.scene.memory[OOM_PAGE_TABLES] = 90 * MIB;
	k.scene.tasks = 8;
	k.scene.tasks_kept_bytes = 1;
	holder(KILLED, MIB)->page_tables = 22 * MIB;
	holder(OTHER, 2 * MIB)->page_tables = 22 * MIB + 512 * 1024 - 1;
	judge();
	is_u64(page.blame, OOM_BLAME_MANY, "none has a quarter of the page tables");
	is_u64(page.holder->pid, OTHER, "who has most of them");
	k.holder[1].page_tables++;
	judge();
	is_u64(page.blame, OOM_BLAME_PROCESS, "one has a quarter");
	ok(advises("page tables of 90.0 MiB map memory in small pages; with huge pages they need "
		   "about 180 KiB"),
	   "advice: huge pages");
	k.holder[0].page_tables = k.holder[1].page_tables;
	judge();
	is_u64(page.holder->pid, KILLED, "of two equal ones, the first in the list");
}

/* There is room for six pieces of advice. The last one replaces the sixth. */
static void test_much_advice(void)
{
	begin();
	k.victims = 2;
	k.first.pid_inside = 1;
	k.scene.memory[OOM_PAGE_TABLES] = 90 * MIB;
	holder(OTHER, 2 * MIB)->page_tables = 90 * MIB;
	judge();
	is_u64(page.advices, 6, "six pieces of advice");
	ok(strstr(page.advice[5].text, "PID 1 of its container"), "all of them are shown: %s",
	   page.advice[5].text);
	k.first.score_adj = 500;
	judge();
	is_u64(page.advices, 6, "one more does not fit");
	ok(strstr(page.advice[5].text, "oom_score_adj of 500"), "it replaces the last one: %s",
	   page.advice[5].text);
	ok(advises("killed 2 processes together"), "and no other");
}

static void test_curve(void)
{
	struct oom_scene_record s = {};

	is_u64(oom_curve_points(&s), 0, "no scan before the kill");
	for (size_t i = 0; i < OOM_CURVE_POINTS - 1; i++)
		s.curve_ns[i] = i + 1;
	is_u64(oom_curve_points(&s), OOM_CURVE_POINTS - 1, "all but one point");
	s.curve_ns[OOM_CURVE_POINTS - 1] = 1;
	s.curve_bytes[0] = 1;
	is_u64(oom_curve_points(&s), OOM_CURVE_POINTS, "all points");
}

/* Where memory was short. If the kernel did not say it, the page counters do. */
static void test_scope(void)
{
	static const struct {
		uint32_t constraint, free_pages, known;
		enum oom_scope scope;
		bool certain;
		const char *name;
	} rows[] = {
		{OOM_NONE, 0, 1, OOM_SCOPE_HOST, true, "the machine"},
		{OOM_CPUSET, 0, 1, OOM_SCOPE_NODES, true, "a cpuset"},
		{OOM_POLICY, 0, 1, OOM_SCOPE_NODES, true, "a memory policy"},
		{OOM_MEMCG, 0, 1, OOM_SCOPE_CGROUP, true, "a cgroup"},
		{OOM_UNKNOWN, 256, 1, OOM_SCOPE_CGROUP, false, "256 pages may be free"},
		{OOM_UNKNOWN, 257, 1, OOM_SCOPE_HOST, false, "257 pages are too many"},
		{OOM_UNKNOWN, 0, 0, OOM_SCOPE_UNKNOWN, false, "no counters"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin();
		k.has_scene = false;
		k.first.constraint = rows[i].constraint;
		k.first.memory.used -= rows[i].free_pages;
		k.first.memory.known = rows[i].known;
		judge();
		is_u64(page.scope, rows[i].scope, rows[i].name);
		ok(page.certain == rows[i].certain, "%s: %s", rows[i].name,
		   rows[i].certain ? "certain" : "not certain");
		if (rows[i].scope == OOM_SCOPE_CGROUP) {
			is_u64(page.limit, LIMIT, "the limit of the page counters");
			is_u64(page.used, LIMIT - rows[i].free_pages * PAGE, "and their use");
		} else {
			is_u64(page.limit, FIGURE_UNKNOWN, "the limit is not known");
			is_u64(page.used, FIGURE_UNKNOWN, "nor what was in use");
			ok(!page.limit_file, "no file has it");
		}
	}
	k.first.sent = 9;
	judge();
	is_u64(page.scope, OOM_SCOPE_DAEMON, "a program killed it");
	ok(page.certain, "which is certain");
}

static void test_kept(void)
{
	struct oom_holder_record h = {.rss = 100, .anon = 20, .shmem = 3, .swap = 7};

	is_u64(oom_holder_kept(&h), 30, "anonymous, shared and swapped memory");
	h.swap = FIGURE_UNKNOWN;
	is_u64(oom_holder_kept(&h), 23, "swap that is not known");
	h.shmem = FIGURE_UNKNOWN;
	is_u64(oom_holder_kept(&h), 100, "before Linux 6.8: what is resident");
	h.swap = 7;
	is_u64(oom_holder_kept(&h), 107, "and swapped");
	h.rss = FIGURE_UNKNOWN;
	ok(oom_holder_kept(&h) == FIGURE_UNKNOWN, "nothing is known");
}

static void test_names(void)
{
	is_str(oom_kind_key(OOM_ANON), "anonymous", "name of the first kind of memory");
	is_str(oom_kind_key(OOM_UNEVICTABLE), "unevictable", "name of the last part");
	is_str(oom_kind_text(OOM_PAGE_TABLES), "page tables", "words for a kind");
	is_str(oom_blame_key(OOM_BLAME_MANY), "many_processes", "name of a blame");
	is_str(oom_scope_key(OOM_SCOPE_NODES), "nodes", "name of a scope");
	is_str(oom_source_key(OOM_FROM_NOTHING), "none", "no source");
	is_str(oom_source_key(OOM_FROM_LOG), "kernel_log", "the kernel log");
	is_str(oom_source_key(OOM_FROM_SCAN), "scan", "a scan");
}

int main(void)
{
	test_many();
	test_many_without_report();
	test_grower();
	test_holder();
	test_growth_of_victim();
	test_half_of_memory();
	test_tmpfs();
	test_memsw();
	test_higher_limit();
	test_swap();
	test_without();
	test_victims();
	test_page_tables();
	test_much_advice();
	test_curve();
	test_scope();
	test_kept();
	test_names();
	return tap_done();
}
