// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what is said about the victim of an OOM kill: its cgroup from one of several sources, its
 * place among the processes that held memory, and its growth since the last scan.
 */
#include "fakeroot.h"
#include "fixture.h"

#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "collect/oom/oom_scene.h"
#include "tap.h"

#define PAGE	4096ULL
#define MIB	(1ULL << 20)
#define VICTIM	10
#define KILL_NS (4 * SECOND)

static struct fakeroot root;
static struct model m;
static struct oom_scenes scenes;
static struct oom_scene_record scene;
static struct oom_holder_record holder[OOM_HOLDERS];
static size_t holders;

/* /proc is that of the made machine. */
int openat(int dir, const char *path, int flags, ...)
{
	if (!strncmp(path, "/proc/", 6))
		return (int)syscall(SYS_openat, root.fd, path + 1, flags, 0);
	return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_OOM_SCENE)
		scene = *(const struct oom_scene_record *)h;
	else if (h->kind == RECORD_OOM_HOLDER)
		holder[holders++] = *(const struct oom_holder_record *)h;
	return model_take(&m, h);
}

static void explain(struct oom_record *r)
{
	const struct sink sink = {.take = take};

	holders = 0;
	if (oom_scenes_take(&scenes, &m, r, &sink))
		abort();
}

static struct oom_record kill_record(void)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL_NS);

	r.subject = (struct process_key){.pid = VICTIM, .start_ns = 1};
	r.constraint = OOM_UNKNOWN;
	r.rss_anon_pages = 1000;
	r.memory = (struct level_room){.used = 51200, .limit = 51200, .known = 1};
	r.swap_used = r.swap_limit = UINT64_MAX;
	strcpy(r.comm, "victim");
	return r;
}

static void add_process(uint32_t pid, int64_t anon, uint32_t flags, const char *cgroup)
{
	struct process_record r = process_record(pid, 1, 2 * SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, 2 * SECOND);

	r.g.rss_anon_pages = anon;
	r.g.flags = flags;
	model_take(&m, &r.h);
	n.subject = r.subject;
	strcpy(n.cgroup, cgroup);
	if (n.cgroup[0])
		model_take(&m, &n.h);
}

static void add_level(const char *path, uint64_t anon, uint64_t used)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, 3 * SECOND);

	memset(c.n, 0xff, sizeof(c.n));
	strcpy(c.path, path);
	c.version = 2;
	c.n[CGROUP_ANON] = anon;
	c.n[CGROUP_USED] = used;
	c.n[CGROUP_LIMIT] = 200 * MIB;
	model_take(&m, &c.h);
}

/* The cgroup of the victim comes from the model, or else from /proc. */
static void test_cgroup_of_victim(void)
{
	static const struct {
		const char *in_model, *in_proc; /* "": unknown */
		bool limited, foreign;
		const char *want, *name;
	} rows[] = {
		{"/model", "0::/proc\n", true, false, "/model", "the model knows it"},
		{"", "0::/proc\n", true, false, "/proc", "/proc knows it"},
		{"", "0::/proc\n", true, true, "", "the pid is not that of /proc"},
		{"/model", "0::/proc\n", true, true, "/model", "the model knows it all the same"},
		{"", "0::/\n", true, false, "",
		 "an exiting process is in the root cgroup, which has no limit"},
		{"", "0::/\n", false, false, "/", "without a limit, it may be there"},
		{"", "", true, false, "", "nobody knows it"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_record();

		begin_model(&m, NULL);
		fake_process(&root, VICTIM, 1, "victim", 0, rows[i].in_proc);
		add_process(VICTIM, 900, 0, rows[i].in_model);
		r.memory.limit = rows[i].limited ? 51200 : UINT64_MAX;
		scenes.foreign = rows[i].foreign;
		explain(&r);
		is_str(scene.victim_cgroup, rows[i].want, rows[i].name);
		is_str(scene.cgroup, rows[i].limited ? rows[i].want : "",
		       "the cgroup with the limit");
		model_free(&m);
	}
	scenes.foreign = false;
}

/* Counters tell whether the limit of a cgroup was the reason. */
static void test_reasons(void)
{
	static const struct {
		uint32_t constraint, sent;
		uint64_t used;
		bool in_cgroup;
		const char *name;
	} rows[] = {
		{OOM_UNKNOWN, 0, 51200, true, "a limit that is reached"},
		{OOM_UNKNOWN, 0, 100, false, "a limit that is far away"},
		{OOM_MEMCG, 0, 100, true, "the kernel names the cgroup as the reason"},
		{OOM_NONE, 0, 51200, false, "the kernel names the machine as the reason"},
		{OOM_NONE, 15, 100, true, "a program killed it, which watches cgroups"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_record();

		begin_model(&m, NULL);
		add_process(VICTIM, 900, 0, "/a");
		r.constraint = rows[i].constraint;
		r.sent = rows[i].sent;
		r.memory.used = rows[i].used;
		explain(&r);
		is_str(scene.cgroup, rows[i].in_cgroup ? "/a" : "", rows[i].name);
		is_u64(scene.limit, rows[i].in_cgroup ? 51200 * PAGE : 8ULL << 30, "the limit");
		model_free(&m);
	}
}

/* Only the anonymous memory that the victim took after the scan is added to the scan's values. */
static void test_growth(void)
{
	static const struct {
		uint64_t anon;	/* of the cgroup; FIGURE_UNKNOWN: not known */
		uint32_t flags; /* of the victim in the model */
		bool listed;	/* the victim is in the model */
		uint64_t want;
		const char *name;
	} rows[] = {
		{50 * MIB, 0, true, 50 * MIB + 100 * PAGE, "a process that was scanned"},
		{50 * MIB, PROC_FINAL, true, 50 * MIB + 1000 * PAGE,
		 "the last values of a process may be those after the kill"},
		{50 * MIB, 0, false, 50 * MIB + 1000 * PAGE, "a process that is new"},
		{FIGURE_UNKNOWN, 0, true, FIGURE_UNKNOWN, "a sum that is not known"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_record();

		begin_model(&m, NULL);
		if (rows[i].listed)
			add_process(VICTIM, 900, rows[i].flags, "/a");
		else
			fake_process(&root, VICTIM, 1, "victim", 0, "0::/a\n");
		add_level("/a", rows[i].anon, FIGURE_UNKNOWN);
		explain(&r);
		is_u64(scene.memory[OOM_ANON], rows[i].want, rows[i].name);
		is_u64(scene.used, 51200 * PAGE, "the counter at the kill is newer than the scan");
		model_free(&m);
	}
}

static int log_end;

static void put(const char *text)
{
	char record[512];
	int n = snprintf(record, sizeof(record), "6,1,1,-;%s\n", text);

	if (write(log_end, record, n) != n)
		abort();
}

static void put_report(const char *heading, const char *row)
{
	put("x invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0");
	put("Tasks state (memory values in pages):");
	put(heading);
	put(row);
	put("[ 20] 0 20 999 5000 0 0 other");
	put("oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a,task_memcg=/a/b,task=x,pid=10,"
	    "uid=0");
}

/* Before 6.8 the kernel lists only the sum of a process: the values of the kill tell more. */
static void test_victim_in_log(void)
{
	static const struct {
		const char *heading, *row;
		uint64_t anon, rss;
		const char *comm, *name;
	} rows[] = {
		{"[ pid ] uid tgid total_vm rss rss_anon rss_shmem name",
		 "[ 10] 0 10 999 9000 8000 7 logged", 8000 * PAGE, 9000 * PAGE, "logged",
		 "the list of the kernel has its parts"},
		{"[ pid ] uid tgid total_vm rss swapents adj name",
		 "[ 10] 0 10 999 9000 0 0 logged", 1000 * PAGE, 1000 * PAGE, "victim",
		 "the list has only the sum"},
	};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair))
		abort();
	log_end = pair[1];
	scenes.log = kernel_log_of(pair[0]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_record();

		begin_model(&m, NULL);
		add_process(VICTIM, 900, 0, "/a/model");
		put_report(rows[i].heading, rows[i].row);
		explain(&r);
		is_str(scene.victim_cgroup, "/a/b", "the cgroup that the kernel named");
		is_str(scene.cgroup, "/a", "that with the limit");
		is_u64(holders, 2, "the victim is listed once");
		ok(holder[0].pid == VICTIM && holder[1].pid == 20, "where the kernel listed it");
		is_u64(holder[0].anon, rows[i].anon, rows[i].name);
		is_u64(holder[0].rss, rows[i].rss, "all of its memory");
		is_str(holder[0].comm, rows[i].comm, "its name");
		is_u64(r.constraint, OOM_MEMCG, "the reason that the kernel named");
		model_free(&m);
	}
	kernel_log_close(scenes.log);
	scenes.log = NULL;
	close(log_end);
}

/* What is not part of another value, or is larger than it, is not taken away from it. */
static void test_machine(void)
{
	static const struct {
		uint64_t cached, shmem, want;
		const char *name;
	} rows[] = {
		{700, 200, 500, "page cache without shared memory"},
		{200, 200, 0, "nothing but shared memory"},
		{199, 200, 199, "values that do not fit together"},
		{700, FIGURE_UNKNOWN, 700, "shared memory is not known"},
		{FIGURE_UNKNOWN, 200, FIGURE_UNKNOWN, "page cache is not known"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_record();
		struct pressure_record p = RECORD(pressure_record, RECORD_SHORTAGE, 3 * SECOND);
		struct tick_record tick = tick_record(3 * SECOND);

		begin_model(&m, NULL);
		r.memory.limit = UINT64_MAX;
		p.n[HOST_CACHED] = rows[i].cached;
		p.n[HOST_SHMEM] = rows[i].shmem;
		p.n[HOST_ANON] = FIGURE_UNKNOWN;
		model_take(&m, &p.h);
		model_take(&m, &tick.h);
		explain(&r);
		is_u64(scene.memory[OOM_FILE], rows[i].want, rows[i].name);
		is_u64(scene.memory[OOM_ANON], FIGURE_UNKNOWN, "anonymous memory is not known");
		model_free(&m);
	}
}

/* A kill before the first scan has no values of the machine. */
static void test_no_scan(void)
{
	struct oom_record r = kill_record();

	if (model_init(&m))
		abort();
	r.memory.limit = UINT64_MAX;
	explain(&r);
	is_u64(scene.source, OOM_FROM_NOTHING, "no scan");
	is_u64(scene.limit, FIGURE_UNKNOWN, "RAM is not known");
	is_u64(scene.used, FIGURE_UNKNOWN, "nor what is in use");
	is_u64(scene.curve_ns[0], 0, "there is no curve");
	is_u64(holders, 1, "the victim alone is listed");
	ok(scene.wall_ns > 1600000000 * SECOND, "the clock time of the kill");
	model_free(&m);
}

/* The last minutes are kept as a curve of a number of points. */
static void test_curve(void)
{
	struct oom_record r = kill_record();

	begin_model(&m, NULL);
	r.h.t_ns = 100 * SECOND;
	r.memory.limit = UINT64_MAX;
	for (uint64_t s = 2; s < 90; s++) {
		struct tick_record tick = tick_record(s * SECOND);

		tick.limits.mem_available_bytes = s * MIB;
		model_take(&m, &tick.h);
		model_next_window(&m);
	}
	explain(&r);
	ok(m.memory_used.n > OOM_CURVE_POINTS / 2, "a curve of %u points", m.memory_used.n);
	is_u64(scene.curve_ns[m.memory_used.n - 1], 89 * SECOND, "up to the last scan");
	is_u64(scene.curve_bytes[m.memory_used.n - 1], (8ULL << 30) - 89 * MIB, "its value");
	model_free(&m);
}

int main(void)
{
	root = fakeroot_make();
	scenes.opened = true;
	scenes.root = scenes.known.root = root.fd;
	test_cgroup_of_victim();
	test_reasons();
	test_growth();
	test_victim_in_log();
	test_machine();
	test_no_scan();
	test_curve();
	scenes.root = -1;
	oom_scenes_close(&scenes);
	fakeroot_free(&root);
	return tap_done();
}
