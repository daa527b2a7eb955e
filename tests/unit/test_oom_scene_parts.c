// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests parts of the records that explain an OOM kill, one by one: the time of day, the cgroup of
 * the victim and its workload, unknown values of the last scan, and kernels that report only sums.
 * The clocks and the files of /proc are those of the test.
 */
#include "fakeroot.h"
#include "fixture.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "collect/oom/kernel_log.h"
#include "collect/oom/oom_scene.h"
#include "model/pressure.h"
#include "open_files.h"
#include "tap.h"

#define PAGE	4096ULL
#define VICTIM	10
#define KILL_NS (4 * SECOND)
#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD	"11111111-2222-3333-4444-555555555555"

static struct fakeroot root;
static struct model m;
static struct oom_scenes scenes;
static struct oom_scene_record scene;
static struct oom_holder_record holder[OOM_HOLDERS];
static size_t holders;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	*ret = (struct timespec){.tv_sec = clock == CLOCK_REALTIME ? 1700000000 : 10,
				 .tv_nsec = clock == CLOCK_REALTIME ? 7 : 2};
	return 0;
}

/* Files of /proc/PID are those of the test. */
int openat(int dir, const char *path, int flags, ...)
{
	bool made = dir == AT_FDCWD && !strncmp(path, "/proc/", 6);

	return syscall(SYS_openat, made ? root.fd : dir, made ? path + 1 : path, flags, 0600);
}

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_OOM_SCENE)
		scene = *(const struct oom_scene_record *)h;
	else if (h->kind == RECORD_OOM_HOLDER)
		holder[holders++] = *(const struct oom_holder_record *)h;
	return 0;
}

static const struct sink sink = {.take = take};

static void explain(struct oom_record *r)
{
	size_t before = open_fds();

	memset(&scene, 0, sizeof(scene));
	holders = 0;
	is_u64(oom_scenes_take(&scenes, &m, r, &sink), 0, "a kill");
	if (open_fds() != before)
		ok(false, "a file was left open");
}

static void begin(void)
{
	begin_model(&m, NULL);
	scenes = (struct oom_scenes){.opened = true, .root = root.fd, .known.root = root.fd};
}

static void end(void)
{
	known_free(&scenes.known);
	model_free(&m);
}

/* A kill of a process for which no cgroup has a limit. */
static struct oom_record kill_record(void)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, KILL_NS);

	r.subject = (struct process_key){.pid = VICTIM, .start_ns = 1};
	r.memory.limit = UINT64_MAX;
	r.swap_used = r.swap_limit = UINT64_MAX;
	strcpy(r.comm, "victim");
	return r;
}

/* A kill at the limit of a cgroup `up` levels above the one of the victim. */
static struct oom_record kill_at_limit(uint32_t up)
{
	struct oom_record r = kill_record();

	r.memory = (struct level_room){.used = 100, .limit = 100, .up = up, .known = 1};
	return r;
}

static void name_process(uint32_t pid, const char *cgroup)
{
	struct process_record p = process_record(pid, 1, 2 * SECOND);
	struct names_record n = RECORD(names_record, RECORD_NAMES, 2 * SECOND);

	model_take(&m, &p.h);
	n.subject = p.subject;
	strcpy(n.cgroup, cgroup);
	model_take(&m, &n.h);
}

static void test_time(void)
{
	struct oom_record r = kill_record();

	begin();
	explain(&r);
	is_u64(scene.wall_ns, 1700000000 * SECOND - 6 * SECOND + 5, "the time of day of the kill");
	is_u64(scene.kill_ns, KILL_NS, "its time");
	end();
}

/* The cgroup of the victim comes from the model, or from /proc. */
static void test_victims_cgroup(void)
{
	static const struct {
		const char *of_model, *of_proc; /* NULL: not known */
		bool foreign, at_limit;
		uint32_t up;
		const char *want, *limited; /* cgroups of the victim and of the limit */
		const char *name;
	} rows[] = {
		{"/a/b", "0::/c\n", false, false, 0, "/a/b", "", "the model knows it"},
		{NULL, "0::/c\n", false, false, 0, "/c", "", "/proc has it"},
		{NULL, "0::/c\n", true, false, 0, "", "", "/proc of another pid namespace"},
		{NULL, NULL, false, false, 0, "", "", "nobody knows it"},
		{NULL, "0::/\n", false, false, 0, "/", "", "the root"},
		{NULL, "0::/\n", false, true, 0, "", "", "the root has no limit: it is exiting"},
		{NULL, "0::/c/d\n", false, true, 1, "/c/d", "/c", "the limit of a parent"},
		{"/a/b", NULL, false, true, 0, "/a/b", "/a/b", "its own limit"},
		{"/a/b", NULL, false, true, 1, "/a/b", "/a", "one level up"},
		{"/a/b", NULL, true, true, 2, "/a/b", "/", "two levels up"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = rows[i].at_limit ? kill_at_limit(rows[i].up) : kill_record();

		begin();
		scenes.foreign = rows[i].foreign;
		if (rows[i].of_model)
			name_process(VICTIM, rows[i].of_model);
		if (rows[i].of_proc)
			fake_file(&root, "proc/10/cgroup", "%s", rows[i].of_proc);
		explain(&r);
		is_str(scene.victim_cgroup, rows[i].want, rows[i].name);
		is_str(scene.cgroup, rows[i].limited, "the cgroup of the limit");
		fake_remove(&root, "proc/10/cgroup");
		end();
	}
}

/* When the values of a kill are those of a cgroup. */
static void test_whose_values(void)
{
	static const struct {
		uint64_t used;
		uint32_t constraint, sent;
		const char *want; /* cgroup of the limit; "": the whole machine */
		const char *name;
	} rows[] = {
		{100, OOM_UNKNOWN, 0, "/a/b", "a full cgroup"},
		{50, OOM_UNKNOWN, 0, "", "a cgroup that was not full"},
		{50, OOM_MEMCG, 0, "/a/b", "the kernel says that it was the cgroup"},
		{100, OOM_NONE, 0, "", "the kernel says that it was the machine"},
		{50, OOM_UNKNOWN, 9, "/a/b", "a program killed a process in a cgroup"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_at_limit(0);

		r.memory.used = rows[i].used;
		r.memory.limit = 100000;
		if (rows[i].used == 100)
			r.memory.used = r.memory.limit;
		r.constraint = rows[i].constraint;
		r.sent = rows[i].sent;
		begin();
		name_process(VICTIM, "/a/b");
		explain(&r);
		is_str(scene.cgroup, rows[i].want, rows[i].name);
		is_u64(scene.limit, rows[i].want[0] ? 100000 * PAGE : 8ULL << 30, "the limit");
		end();
	}
}

/* Names of the victim's pod and container. */
static void test_workload(void)
{
	struct oom_record r = kill_record();
	const char *log = "var/log/containers/web-0_shop_app-" ID ".log";

	begin();
	name_process(VICTIM, "/kubepods/burstable/pod" POD "/" ID);
	explain(&r);
	is_str(scene.pod, "", "no name of the pod");
	is_str(scene.container, ID, "the ID of a container without a name");
	end();

	begin();
	fake_file(&root, log, "%s", "");
	name_process(VICTIM, "/kubepods/burstable/pod" POD "/" ID);
	explain(&r);
	is_str(scene.namespace, "shop", "the namespace");
	is_str(scene.pod, "web-0", "the pod");
	is_str(scene.container, "app", "the container");
	end();

	begin();
	scenes.root = -1;
	name_process(VICTIM, "/kubepods/burstable/pod" POD "/" ID);
	explain(&r);
	is_str(scene.container, "", "without a root directory, no names");
	end();
	fake_remove(&root, log);

	/* Podman's name is that in the arguments of a parent, which is only read for own pids */
	fake_process(&root, VICTIM, 9, "x", 0, "");
	fake_process(&root, 9, 1, "conmon", 0, "");
	for (int foreign = 0; foreign < 2; foreign++) {
		static const char words[] = "conmon\0-c\0" ID "\0-n\0db";
		char path[256];
		FILE *f = fopen(fake_path(&root, "proc/9/cmdline", path, sizeof(path)), "w");

		fwrite(words, sizeof(words), 1, f);
		fclose(f);
		begin();
		scenes.foreign = foreign;
		name_process(VICTIM, "/machine.slice/libpod-" ID ".scope");
		explain(&r);
		is_str(scene.container, foreign ? ID : "db", "a container of podman");
		end();
	}
	fake_remove(&root, "proc/10/status");
	fake_remove(&root, "proc/9/status");
}

static void put_level(uint64_t file, uint64_t shmem)
{
	struct cgroup_record c = RECORD(cgroup_record, RECORD_LEVEL, 3 * SECOND);

	for (int i = 0; i < NR_CGROUP_FIGURES; i++)
		c.n[i] = FIGURE_UNKNOWN;
	strcpy(c.path, "/a");
	c.version = 2;
	c.n[CGROUP_USED] = 500;
	c.n[CGROUP_FILE] = file;
	c.n[CGROUP_SHMEM] = shmem;
	model_take(&m, &c.h);
}

/* Files without shared memory, where one of the values may be unknown. */
static void test_differences(void)
{
	static const struct {
		uint64_t file, shmem, want;
	} rows[] = {
		{70, 20, 50},
		{70, 70, 0},
		{70, 71, 70},
		{70, FIGURE_UNKNOWN, 70},
		{FIGURE_UNKNOWN, 20, FIGURE_UNKNOWN},
		{70, 0, 70},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct oom_record r = kill_at_limit(0);

		begin();
		name_process(VICTIM, "/a");
		put_level(rows[i].file, rows[i].shmem);
		explain(&r);
		is_u64(scene.memory[OOM_FILE], rows[i].want, "files");
		is_u64(scene.memory[OOM_SHMEM], rows[i].shmem, "shared memory");
		is_u64(scene.memory[OOM_ANON], FIGURE_UNKNOWN, "unknown memory stays unknown");
		is_u64(scene.source, OOM_FROM_SCAN, "its source");
		end();
	}
}

/* Before the first scan of the machine's memory, only its size is known. */
static void test_new_model(void)
{
	struct oom_record r = kill_record();

	begin();
	explain(&r);
	is_u64(scene.source, OOM_FROM_SCAN, "the last scan of the machine");
	is_u64(scene.limit, 8ULL << 30, "its memory");
	for (int i = 0; i < NR_OOM_KINDS; i++)
		is_u64(scene.memory[i], i == OOM_HUGETLB ? 0 : FIGURE_UNKNOWN, "a kind of memory");
	model_free(&m);
	if (model_init(&m))
		abort();
	explain(&r);
	is_u64(scene.source, OOM_FROM_NOTHING, "no scan at all");
	is_u64(scene.limit, FIGURE_UNKNOWN, "no size");
	is_u64(scene.values_ns, 0, "no time");
	end();
}

static void log_line(int fd, const char *text)
{
	char record[1024];
	int n = snprintf(record, sizeof(record), "6,100,5000,-;%s\n", text);

	if (send(fd, record, n, 0) != n)
		exit(1);
}

/* Before Linux 6.8, the kernel lists only sums of memory: the victim's parts are known anyway. */
static void test_sums(void)
{
	static const char *const report[] = {
		"x invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
		"Tasks state (memory values in pages):",
		"[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj "
		"name",
		"[     10]     0    10    99999     9000         122880       10             0 "
		"victim",
		"[     12]     0    12    99999     8000         122880       10             0 "
		"other",
		"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=victim,pid=10,uid=0",
	};
	struct oom_record r = kill_record();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		exit(1);
	begin();
	scenes.log = kernel_log_of(pair[0]);
	for (size_t i = 0; i < sizeof(report) / sizeof(report[0]); i++)
		log_line(pair[1], report[i]);
	r.rss_anon_pages = 5000;
	r.rss_file_pages = 3000;
	r.rss_shmem_pages = 1000;
	r.swap_pages = 10;
	r.score_adj = 7;
	explain(&r);
	is_u64(scene.in_log, 1, "the report was found");
	is_u64(holders, 2, "two processes");
	ok(holder[0].pid == VICTIM && holder[0].anon == 5000 * PAGE &&
		   holder[0].file == 3000 * PAGE && holder[0].shmem == 1000 * PAGE &&
		   holder[0].rss == 9000 * PAGE && holder[0].swap == 10 * PAGE &&
		   holder[0].score_adj == 7 && holder[0].page_tables == FIGURE_UNKNOWN,
	   "the victim, as the BPF program saw it");
	is_str(holder[0].comm, "victim", "its name");
	ok(holder[1].pid == 12 && holder[1].rss == 8000 * PAGE && holder[1].anon == FIGURE_UNKNOWN,
	   "the other one, as the kernel listed it");
	kernel_log_close(scenes.log);
	close(pair[1]);
	end();
}

static void test_open(void)
{
	size_t before = open_fds();
	struct oom_scenes o;

	memset(&o, 0x55, sizeof(o));
	oom_scenes_open(&o);
	ok(o.opened && o.root >= 0 && o.known.root == o.root, "the root directory");
	ok(!o.known.known && !o.known.uses && !o.known.pattern, "no workload is known");
	is_u64(o.known.collapse, COLLAPSE_DEFAULT, "names are shortened");
	oom_scenes_close(&o);
	is_u64(open_fds(), before, "all files are closed");
	o = (struct oom_scenes){.root = dup(root.fd)};
	oom_scenes_close(&o);
	is_u64(open_fds(), before + 1, "what was not opened is not closed");
	close(o.root);
}

int main(void)
{
	root = fakeroot_make();
	test_time();
	test_victims_cgroup();
	test_whose_values();
	test_workload();
	test_differences();
	test_new_model();
	test_sums();
	test_open();
	fakeroot_free(&root);
	return tap_done();
}
