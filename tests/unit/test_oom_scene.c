// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the records that explain an OOM kill: values of the cgroup or of the machine, from the
 * kernel log or from the last scan, and the processes that held memory.
 */
#include "fakeroot.h"

#include <errno.h>
#include <sys/socket.h>

#include "collect/oom/kernel_log.h"
#include "collect/oom/oom_scene.h"
#include "fixture.h"
#include "model/pressure.h"
#include "tap.h"

#define PAGE	  4096ULL
#define MIB	  (1ULL << 20)
#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define IN	  "/docker/" CONTAINER
#define VICTIM	  10
#define TAKEN	  (100 * PAGE) /* what the victim took since the scan */
#define KILL_NS	  (4 * SECOND)

static struct model m;
static struct oom_scenes scenes;

/* The records of one kill, as the consumer gets them. */
static struct {
	int kills, scenes, holders;
	struct oom_record kill;
	struct oom_scene_record scene;
	struct oom_holder_record holder[OOM_HOLDERS];
	int fail_at; /* number of the record with which the consumer fails; 0: none */
} got;

static int take(void *ctx, const struct record *h)
{
	if (h->kind == RECORD_OOM) {
		got.kill = *(const struct oom_record *)h;
		got.kills++;
	} else if (h->kind == RECORD_OOM_SCENE) {
		got.scene = *(const struct oom_scene_record *)h;
		got.scenes++;
	} else if (h->kind == RECORD_OOM_HOLDER) {
		got.holder[got.holders++] = *(const struct oom_holder_record *)h;
	}
	return got.kills + got.scenes + got.holders == got.fail_at ? -EXDEV : model_take(&m, h);
}

static int explain(struct oom_record *r)
{
	const struct sink sink = {.take = take};
	int fail_at = got.fail_at;

	memset(&got, 0, sizeof(got));
	got.fail_at = fail_at;
	return oom_scenes_take(&scenes, &m, r, &sink);
}

static void add_process(uint32_t pid, int64_t anon, int64_t shmem, int64_t swap, const char *cgroup)
{
	struct process_record r = process_record(pid, 1, 2 * SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, 2 * SECOND);

	r.g.rss_anon_pages = anon;
	r.g.rss_file_pages = 3;
	r.g.rss_shmem_pages = shmem;
	r.g.swap_pages = swap;
	model_take(&m, &r.h);
	n.subject = r.subject;
	snprintf(n.cgroup, sizeof(n.cgroup), "%s", cgroup);
	model_take(&m, &n.h);
}

static void add_level(const char *path, uint64_t t_ns, uint64_t used)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, t_ns);

	for (int i = 0; i < NR_CGROUP_FIGURES; i++)
		c.n[i] = FIGURE_UNKNOWN;
	snprintf(c.path, sizeof(c.path), "%s", path);
	c.version = 2;
	c.n[CGROUP_USED] = used;
	c.n[CGROUP_LIMIT] = 200 * MIB;
	c.n[CGROUP_SWAP_USED] = 7 * MIB;
	c.n[CGROUP_ANON] = 100 * MIB;
	c.n[CGROUP_SHMEM] = 20 * MIB;
	c.n[CGROUP_FILE] = 50 * MIB;
	c.n[CGROUP_KERNEL] = 9 * MIB;
	model_take(&m, &c.h);
}

/* A kill at the limit of the cgroup one level above that of the victim. */
static struct oom_record kill_record(void)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL_NS);

	r.subject = (struct process_key){.pid = VICTIM, .start_ns = 1};
	r.constraint = OOM_UNKNOWN;
	r.score_adj = -5;
	r.rss_anon_pages = 1000;
	r.rss_file_pages = 30;
	r.rss_shmem_pages = 200;
	r.swap_pages = 4;
	r.page_table_bytes = 12345;
	r.memory = (struct level_room){.used = 51000, .limit = 51200, .up = 1, .known = 1};
	r.swap_used = 100;
	r.swap_limit = 300;
	strcpy(r.comm, "victim");
	return r;
}

static void begin(void)
{
	begin_model(&m, NULL);
	add_process(VICTIM, 900, 100, 0, IN "/worker");
	add_process(11, 500, 0, 700, IN);
	add_process(12, 2000, 0, 0, IN "/other");
	add_process(13, 9000, 0, 0, "/system.slice");
	add_process(14, -2, 10, 0, IN);
}

static void is_holder(size_t i, uint32_t pid, uint64_t anon, uint64_t shmem, uint64_t swap)
{
	const struct oom_holder_record *h = &got.holder[i];

	ok(h->pid == pid && h->anon == anon * PAGE && h->shmem == shmem * PAGE &&
		   h->swap == swap * PAGE,
	   "holder %zu is %u: anon %llu, shmem %llu, swap %llu", i, h->pid,
	   (unsigned long long)h->anon / PAGE, (unsigned long long)h->shmem / PAGE,
	   (unsigned long long)h->swap / PAGE);
	is_u64(h->nth, i, "in order");
	ok(h->kill_ns == KILL_NS && h->h.t_ns == KILL_NS && h->subject.pid == VICTIM,
	   "of this kill");
}

static void is_memory(enum oom_memory kind, uint64_t bytes, const char *name)
{
	is_u64(got.scene.memory[kind], bytes, name);
}

static void test_cgroup(void)
{
	struct oom_record r = kill_record();
	const struct oom_holder_record *h = got.holder;

	begin();
	add_level(IN, 2 * SECOND, 150 * MIB);
	add_level(IN, 3 * SECOND, 190 * MIB);
	is_u64(explain(&r), 0, "a kill at the limit of a cgroup");
	ok(got.kills == 1 && got.scenes == 1, "one scene");
	ok(got.scene.kill_ns == KILL_NS && got.scene.h.t_ns == KILL_NS &&
		   got.scene.subject.pid == VICTIM,
	   "of this kill");
	is_str(got.scene.victim_cgroup, IN "/worker", "the victim's cgroup");
	is_str(got.scene.cgroup, IN, "the cgroup whose limit was reached");
	is_u64(got.scene.source, OOM_FROM_SCAN, "values of the last scan");
	is_u64(got.scene.values_ns, 3 * SECOND, "its time");
	ok(!got.scene.in_log, "no report in the log");
	is_u64(got.scene.used, 51000 * PAGE, "memory at the kill");
	is_u64(got.scene.limit, 51200 * PAGE, "limit");
	is_u64(got.scene.swap_used, 100 * PAGE, "swap");
	is_u64(got.scene.swap_limit, 300 * PAGE, "limit of swap");
	is_memory(OOM_ANON, 100 * MIB + TAKEN, "anonymous memory");
	is_memory(OOM_SHMEM, 20 * MIB, "shared memory");
	is_memory(OOM_FILE, 30 * MIB, "files, without shared memory");
	is_memory(OOM_OTHER_KERNEL, 9 * MIB, "kernel memory");
	is_memory(OOM_SLAB, FIGURE_UNKNOWN, "slab is not known");
	is_u64(got.scene.curve_ns[0], 2 * SECOND, "the curve begins with the first scan");
	is_u64(got.scene.curve_bytes[0], 150 * MIB, "its value");
	is_u64(got.scene.curve_bytes[1], 190 * MIB, "the second value");
	is_u64(got.scene.curve_ns[2], 0, "there are no others");
	is_str(got.scene.container, CONTAINER, "the container");
	is_u64(got.holders, 4, "processes of the cgroup, and the victim");
	is_holder(0, 12, 2000, 0, 0);
	is_holder(1, VICTIM, 1000, 200, 4);
	is_holder(2, 11, 500, 0, 700);
	is_holder(3, 14, 0, 10, 0);
	is_str(h[0].cgroup, IN "/other", "cgroup of a holder");
	is_str(h[0].comm, "proc12", "its name");
	is_u64(h[0].rss, 2003 * PAGE, "all of its memory");
	is_u64(h[0].file, 3 * PAGE, "of files");
	is_u64(h[0].page_tables, FIGURE_UNKNOWN, "page tables are not scanned");
	is_u64(h[0].before_ns, 2 * SECOND, "its first scan");
	is_u64(h[0].before_bytes, 2000 * PAGE, "its memory at that time");
	is_str(h[1].comm, "victim", "the victim's name at the kill");
	is_u64(h[1].rss, 1230 * PAGE, "its memory at the kill");
	is_u64(h[1].file, 30 * PAGE, "of files");
	is_u64(h[1].page_tables, 12345, "its page tables");
	ok(h[1].score_adj == -5, "its adjustment");
	model_free(&m);
}

/* Tests what is left out if only some values are known. */
static void test_few_values(void)
{
	struct oom_record r = kill_record();

	begin();
	r.swap_used = r.swap_limit = UINT64_MAX;
	r.page_table_bytes = 0;
	r.rss_shmem_pages = -1;
	explain(&r);
	is_u64(got.scene.source, OOM_FROM_NOTHING, "a cgroup that was not scanned");
	is_u64(got.scene.values_ns, 0, "has no values of a scan");
	is_u64(got.scene.used, 51000 * PAGE, "but counters at the kill");
	is_u64(got.scene.swap_used, FIGURE_UNKNOWN, "no swap");
	is_u64(got.scene.swap_limit, FIGURE_UNKNOWN, "nor a limit of it");
	is_memory(OOM_ANON, FIGURE_UNKNOWN, "kinds of memory are not known");
	is_u64(got.scene.curve_ns[0], 0, "there is no curve");
	is_holder(1, 11, 500, 0, 700);
	is_u64(got.holder[2].page_tables, FIGURE_UNKNOWN, "nor page tables of the victim");
	is_u64(got.holder[2].shmem, 0, "a count below 0 is none");
	model_free(&m);

	begin();
	r = kill_record();
	r.memory.known = 0;
	add_level("/", 3 * SECOND, MIB);
	explain(&r);
	is_str(got.scene.cgroup, "", "counters that are not known");
	is_u64(got.holders, 5, "all processes may have held the memory");
	is_holder(0, 13, 9000, 0, 0);
	model_free(&m);

	begin();
	r = kill_record();
	r.memory.limit = UINT64_MAX;
	explain(&r);
	is_str(got.scene.cgroup, "", "no cgroup has a limit");
	model_free(&m);

	begin();
	m.tick.limits.page_bytes = 0;
	r = kill_record();
	explain(&r);
	is_u64(got.scene.used, FIGURE_UNKNOWN, "the size of a page is not known");
	model_free(&m);
}

/* Tests a kill for lack of memory of the whole machine. */
static void test_machine(void)
{
	struct oom_record r = kill_record();
	struct pressure_record p = RECORD(pressure_record, RECORD_SHORTAGE, 3 * SECOND);
	struct tick_record tick = tick_record(3 * SECOND);

	begin();
	r.memory.limit = UINT64_MAX;
	p.n[HOST_ANON] = 1000;
	p.n[HOST_SHMEM] = 200;
	p.n[HOST_CACHED] = 700;
	p.n[HOST_SLAB] = 50;
	p.n[HOST_PAGE_TABLES] = 6;
	model_take(&m, &p.h);
	tick.limits.mem_available_bytes = 1ULL << 30;
	tick.limits.swap_free_bytes = 1ULL << 20;
	tick.limits.huge_pages = 3;
	tick.limits.huge_page_bytes = 2 * MIB;
	model_take(&m, &tick.h);
	explain(&r);
	is_str(got.scene.cgroup, "", "no cgroup");
	is_u64(got.scene.source, OOM_FROM_SCAN, "values of the machine");
	is_u64(got.scene.values_ns, 3 * SECOND, "of the last scan");
	is_u64(got.scene.limit, 8ULL << 30, "all RAM");
	is_u64(got.scene.used, (7ULL << 30) + TAKEN, "RAM in use");
	is_u64(got.scene.swap_limit, 1ULL << 30, "all swap");
	is_u64(got.scene.swap_used, (1ULL << 30) - MIB, "swap in use");
	is_memory(OOM_HUGETLB, 6 * MIB, "huge pages");
	is_memory(OOM_ANON, 1000 + TAKEN, "anonymous memory");
	is_memory(OOM_SHMEM, 200, "shared memory");
	is_memory(OOM_FILE, 500, "files");
	is_memory(OOM_SLAB, 50, "slab");
	is_memory(OOM_PAGE_TABLES, 6, "page tables");
	is_u64(got.scene.curve_ns[0], SECOND, "the curve of the machine");
	is_u64(got.scene.curve_bytes[1], 7ULL << 30, "its last value");
	model_free(&m);
}

/* Tests the memory that a process held some time before the kill. */
static void test_before(void)
{
	struct oom_record r = kill_record();

	begin();
	add_process(20, 200, 0, 7, IN);
	for (int s = 3; s < 60; s++) {
		struct tick_record tick = tick_record(s * SECOND);
		struct process_record p = process_record(20, 1, s * SECOND);

		p.g.rss_anon_pages = 100 * s;
		p.g.swap_pages = 7;
		model_take(&m, &p.h);
		model_take(&m, &tick.h);
		model_next_window(&m);
	}
	explain(&r);
	ok(got.holder[0].pid == 20 && got.holder[0].before_ns, "an earlier value is known");
	is_u64(got.holder[0].before_bytes, (got.holder[0].before_ns / SECOND * 100 + 7) * PAGE,
	       "it is that of this time");
	model_free(&m);
}

/* Tests which processes are no holders: they have ended, or have no memory of their own. */
static void test_no_holders(void)
{
	static const uint32_t flags[] = {PROC_FINAL, PROC_NO_MM, PROC_SHARES_MM};
	struct oom_record r = kill_record();

	begin();
	for (size_t i = 0; i < 3; i++) {
		struct process_record p = process_record(12 + i, 1, 3 * SECOND);

		p.g.rss_anon_pages = 5000;
		p.g.flags |= flags[i];
		model_take(&m, &p.h);
	}
	r.memory.limit = UINT64_MAX;
	explain(&r);
	is_u64(got.holders, 2, "two are left");
	is_u64(got.holder[0].pid, VICTIM, "the victim");
	is_u64(got.holder[1].pid, 11, "and another one");
	model_free(&m);
}

/* Tests that further victims of one event get no records of their own. */
static void test_events(void)
{
	struct oom_record r = kill_record();

	begin();
	r.group = 1;
	explain(&r);
	r.subject.pid = 11;
	r.h.t_ns += SECOND;
	is_u64(explain(&r), 0, "another victim of the same event");
	ok(got.kills == 1 && !got.scenes && !got.holders, "has only its own record");
	r.h.t_ns += 2 * SECOND;
	explain(&r);
	is_u64(got.scenes, 1, "a later one has a scene");
	for (got.fail_at = 1; got.fail_at <= 4; got.fail_at++) {
		r.h.t_ns += 3 * SECOND;
		ok(explain(&r) == -EXDEV, "the consumer fails at record %d", got.fail_at);
		is_u64(got.kills + got.scenes + got.holders, got.fail_at, "no record follows");
	}
	got.fail_at = 0;
	scenes.opened = false;
	r.h.t_ns += 3 * SECOND;
	is_u64(explain(&r), 0, "without a log and names");
	ok(got.kills == 1 && !got.scenes, "the kill has no scene");
	scenes.opened = true;
	model_free(&m);
}

/* The processes that hold the most are listed; a victim that holds less is left out. */
static void test_many_holders(void)
{
	for (uint32_t more = 0; more <= 1; more++) {
		struct oom_record r = kill_record();
		bool ordered = true;

		begin();
		for (uint32_t i = 0; i < OOM_HOLDERS - 1 + more; i++)
			add_process(100 + i, 9000 + i, 0, 0, IN);
		explain(&r);
		is_u64(got.holders, OOM_HOLDERS, "holders that are listed");
		for (uint32_t i = 0; i < OOM_HOLDERS - 1 + more; i++)
			ordered &= got.holder[i].pid == 100 + OOM_HOLDERS - 2 + more - i;
		ok(ordered, "the largest first");
		is_u64(got.holder[OOM_HOLDERS - 1].pid, more ? 100 : 12, "the last one");
		model_free(&m);
	}
}

/* What the victim took after the scan is added, but not above the limit of the machine. */
static void test_growth_up_to_limit(void)
{
	static const struct {
		int64_t pages; /* what the victim held beside the scanned 900 pages */
		uint64_t left, want;
		const char *name;
	} rows[] = {
		{0, 2, 2, "no growth"},
		{1, 2, 1, "one page of two that were left"},
		{2, 2, 0, "all that was left"},
		{3, 2, 0, "more than was left"},
		{-5, 2, 2, "a process that became smaller"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_record();
		struct pressure_record p = RECORD(pressure_record, RECORD_SHORTAGE, 3 * SECOND);
		struct tick_record tick = tick_record(3 * SECOND);

		begin();
		r.memory.limit = UINT64_MAX;
		r.rss_anon_pages = 900 + rows[i].pages;
		p.n[HOST_ANON] = 1000;
		model_take(&m, &p.h);
		tick.limits.mem_available_bytes = rows[i].left * PAGE;
		model_take(&m, &tick.h);
		explain(&r);
		is_u64((got.scene.limit - got.scene.used) / PAGE, rows[i].want, rows[i].name);
		is_memory(OOM_ANON, 1000 + (rows[i].pages > 0 ? rows[i].pages : 0) * PAGE,
			  "anonymous memory");
		model_free(&m);
	}
}

/* A record of the log, and the text after its prefix. */
static void log_line(int fd, const char *prefix, const char *text)
{
	char record[8192];
	int n = snprintf(record, sizeof(record), "%s;%s\n SUBSYSTEM=x\n", prefix, text);

	if (send(fd, record, n, 0) != n)
		exit(1);
}

#define KERNEL "6,100,5000,-"

static const char *const report[] = {
	"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=2, oom_score_adj=0",
	"memory: usage 65536kB, limit 65536kB, failcnt 5",
	"swap: usage 1024kB, limit 2048kB, failcnt 0",
	"Memory cgroup stats for " IN ":",
	"anon 41943040",
	"Tasks state (memory values in pages):",
	"[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes "
	"swapents oom_score_adj name",
	"[     10]     0    10    99999     9000     8000      200      800   122880       10"
	"             0 python3",
	"[     12]     0    12    99999      900      800       20       80   122880        1"
	"             0 other\\x5c\\x20",
};
#define REPORTED (sizeof(report) / sizeof(report[0]))
static const char last[] = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,"
			   "mems_allowed=0,oom_memcg=" IN ",task_memcg=" IN
			   "/reported,task=python3,pid=10,uid=0";

static void put_report(int fd, const char *prefix)
{
	for (size_t i = 0; i < REPORTED; i++)
		log_line(fd, prefix, report[i]);
}

/* The log is a socket of which each read returns one record, as from /dev/kmsg. */
static void test_log(void)
{
	struct oom_record r = kill_record();
	char half[64];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		exit(1);
	scenes.log = kernel_log_of(pair[0]);
	begin();
	add_level(IN, 3 * SECOND, 190 * MIB);
	put_report(pair[1], KERNEL);
	log_line(pair[1], KERNEL, last);
	explain(&r);
	is_u64(got.scene.source, OOM_FROM_LOG, "the report of the kernel");
	is_u64(got.scene.in_log, 1, "was found");
	is_u64(got.scene.values_ns, KILL_NS, "its values are those of the kill");
	is_u64(got.scene.used, 64 * MIB, "memory in use, as the kernel printed it");
	is_u64(got.scene.limit, 64 * MIB, "limit");
	is_u64(got.scene.swap_used, MIB, "swap in use");
	is_memory(OOM_ANON, 40 * MIB, "anonymous memory");
	is_u64(got.scene.order, 2, "size of the request");
	is_str(got.scene.victim_cgroup, IN "/reported", "cgroup of the victim, as reported");
	is_str(got.scene.cgroup, IN, "cgroup of the limit");
	is_u64(got.kill.constraint, OOM_MEMCG, "reason of the kill");
	is_u64(got.scene.curve_bytes[0], 190 * MIB, "the curve is that of scans");
	is_u64(got.holders, 2, "processes that the kernel listed");
	is_holder(0, VICTIM, 8000, 800, 10);
	is_holder(1, 12, 800, 80, 1);
	is_str(got.holder[1].comm, "other\\ ", "escapes are undone");
	is_str(got.holder[1].cgroup, IN "/other", "with what the model knows");

	/* records that are not of the kernel, and a record that continues another one */
	r.h.t_ns += 3 * SECOND;
	r.constraint = OOM_NONE;
	put_report(pair[1], KERNEL);
	log_line(pair[1], "12,101,5000,-", last);
	explain(&r);
	ok(!got.scene.in_log, "a user wrote the last line");
	r.h.t_ns += 3 * SECOND;
	put_report(pair[1], "7,100,5000,-");
	snprintf(half, sizeof(half), "%.40s", last);
	log_line(pair[1], "7,101,5000,-", half);
	log_line(pair[1], "7,102,5000,+c", last + 40);
	explain(&r);
	ok(got.scene.in_log, "a line in two records");
	is_u64(got.kill.constraint, OOM_NONE, "a known reason is kept");
	r.h.t_ns += 3 * SECOND;
	put_report(pair[1], KERNEL);
	log_line(pair[1], KERNEL, last);
	r.sent = 9;
	explain(&r);
	ok(!got.scene.in_log, "a signal of a program is not in the log");
	r.h.t_ns += 3 * SECOND;
	r.sent = 0;
	r.subject.pid = 12;
	explain(&r);
	ok(!got.scene.in_log, "the report of another process");
	model_free(&m);
	kernel_log_close(scenes.log);
	scenes.log = NULL;
	close(pair[1]);
}

static void test_unescape(void)
{
	static const char *const texts[][2] = {
		{"a\\x20b", "a b"},	 {"\\x5c", "\\"}, {"\\x0a", "\n"}, {"\\xff", "\377"},
		{"\\xF0", "\\xF0"},	 {"\\x4", "\\x4"}, {"\\x", "\\x"},  {"\\x/0", "\\x/0"},
		{"\\x0:", "\\x0:"},	 {"\\x0g", "\\x0g"}, {"\\x0`", "\\x0`"},
		{"\\y41", "\\y41"},	 {"x41", "x41"},   {"\\x41\\x42", "AB"}, {"", ""},
		{"\\x39\\x61", "9a"},
	};
	char text[32];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(text, sizeof(text), "%s", texts[i][0]);
		kernel_log_unescape(text);
		is_str(text, texts[i][1], texts[i][0]);
	}
}

int main(void)
{
	struct fakeroot root = fakeroot_make();

	scenes.opened = true;
	scenes.root = scenes.known.root = root.fd;
	test_cgroup();
	test_few_values();
	test_machine();
	test_before();
	test_no_holders();
	test_events();
	test_many_holders();
	test_growth_up_to_limit();
	test_log();
	test_unescape();
	scenes.root = -1;
	oom_scenes_close(&scenes);
	oom_scenes_open(&scenes);
	ok(scenes.opened && scenes.root >= 0, "opened");
	oom_scenes_close(&scenes);
	fakeroot_free(&root);
	return tap_done();
}
