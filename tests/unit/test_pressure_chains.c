// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which cgroups of watched processes are measured: those with a limit, and those above them.
 * /proc and the cgroups are files of this test.
 */
#include "fakeroot.h"
#include "fixture.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "collect/pressure/pressure_reader.h"
#include "tap.h"

#define INITIAL_NS 0xeffffffcU /* the kernel's number of the initial pid namespace */

static struct fakeroot root;
static ino_t namespace = INITIAL_NS;
static struct cgroup_record seen[LEVELS_MAX];
static struct score_record score[SCORES_MAX];
static size_t n_seen, n_scores, n_records;
static size_t fail_at; /* number of the record with which the consumer fails; 0: none */

int openat(int dir, const char *path, int flags, ...)
{
	if (!strncmp(path, "/proc/", 6))
		return (int)syscall(SYS_openat, root.fd, path + 1, flags, 0);
	return (int)syscall(SYS_openat, dir, path, flags, 0);
}

int stat(const char *path, struct stat *st)
{
	if (strcmp(path, "/proc/self/ns/pid"))
		return fstatat(AT_FDCWD, path, st, 0);
	*st = (struct stat){.st_ino = namespace};
	return 0;
}

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_LEVEL)
		seen[n_seen++] = *(const struct cgroup_record *)h;
	else if (h->kind == RECORD_SCORE)
		score[n_scores++] = *(const struct score_record *)h;
	return ++n_records == fail_at ? -EXDEV : 0;
}

static const struct sink sink = {.take = take};

static int scan(struct pressure_reader *r, const struct model *m)
{
	n_seen = n_scores = n_records = 0;
	return pressure_scan_only_cgroups(r, m, &sink);
}

static struct pressure_reader reader(bool v1, const char *of)
{
	struct pressure_reader r = {.targets = true, .hierarchy.v1 = v1};
	char path[256];

	strcpy(r.hierarchy.root, of);
	r.root = open(fake_path(&root, "cgroup", path, sizeof(path)), O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	return r;
}

static void limit(const char *cgroup, const char *file, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "cgroup/%s/%s", cgroup, file);
	fake_file(&root, path, "%s\n", value);
}

/* Adds a process with this text of /proc/PID/cgroup. */
static void watch(struct model *m, uint32_t pid, uint32_t flags, const char *cgroup)
{
	struct process_record p = process_record(pid, 1, 2 * SECOND);

	p.g.flags = flags;
	model_take(m, &p.h);
	fake_process(&root, pid, 1, "x", 0, cgroup);
}

static void make_cgroups(void)
{
	limit("web", "memory.max", "1000");
	limit("web/a", "memory.high", "500");
	limit("web/a/none", "memory.max", "max");
	limit("db", "memory.max", "2000");
	limit("db", "memory.limit_in_bytes", "3000");
	limit("none", "memory.max", "max");
}

static void test_chains(void)
{
	static const struct {
		bool v1;
		const char *root, *cgroup; /* of the mount, and of the process */
		const char *want[4];
		const char *name;
	} rows[] = {
		{false, "/", "0::/web/a/none\n", {"/web/a", "/web"}, "limits above the process"},
		{false, "/", "0::/web\n", {"/web"}, "its own limit"},
		{false, "/", "0::/none\n", {NULL}, "no limit"},
		{false, "/", "0::/\n", {NULL}, "the root cgroup"},
		{false, "/", "0::/gone/below\n", {NULL}, "a cgroup that was removed"},
		{false, "/", "0::/web/gone\n", {"/web"}, "but not the one above it"},
		{false, "/", "0::/../web\n", {NULL}, "outside of the cgroup namespace"},
		{false, "/", "4:memory:/db\n0::/web\n", {"/web"}, "version 2"},
		{true, "/", "4:memory:/db\n0::/web\n", {"/db"}, "version 1"},
		{true, "/", "0::/web\n", {NULL}, "no memory controller of version 1"},
		{false, "/docker/x", "0::/docker/x/web\n", {"/web"}, "a mount of a part"},
		{false, "/docker/x", "0::/docker/x\n", {NULL}, "its root"},
		{false, "/docker/x", "0::/docker/xy/web\n", {NULL}, "a longer name"},
		{false, "/docker/x", "0::/web\n", {"/web"}, "a path without the part"},
		{false, "/", "damaged\n", {NULL}, "a damaged file"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pressure_reader r = reader(rows[i].v1, rows[i].root);
		size_t want = 0;
		struct model m;

		begin_model(&m, NULL);
		watch(&m, 100, 0, rows[i].cgroup);
		is_u64(scan(&r, &m), 0, rows[i].name);
		for (; rows[i].want[want]; want++)
			is_str(want < n_seen ? seen[want].path : "none", rows[i].want[want],
			       "from the process upwards");
		is_u64(n_seen, want, "no other");
		is_u64(n_seen ? seen[0].version : 0, !n_seen ? 0 : rows[i].v1 ? 1 : 2, "version");
		model_free(&m);
		pressure_close(&r);
	}
}

/* The root of the hierarchy may have a limit in a container. */
static void test_root(void)
{
	struct pressure_reader r = reader(false, "/");
	struct model m;

	limit(".", "memory.max", "4000");
	limit(".", "memory.current", "77");
	begin_model(&m, NULL);
	watch(&m, 100, 0, "0::/web\n");
	scan(&r, &m);
	is_u64(n_seen, 2, "the cgroup of the process, and the root");
	is_str(seen[1].path, "/", "the root is the last");
	is_u64(seen[1].n[CGROUP_LIMIT], 4000, "its limit");
	is_u64(seen[1].n[CGROUP_USED], 77, "its use");
	is_u64(seen[0].n[CGROUP_USED], FIGURE_UNKNOWN, "a value that a cgroup does not have");
	fake_remove(&root, "cgroup/./memory.max");
	model_free(&m);
	pressure_close(&r);
}

static void test_processes(void)
{
	struct pressure_reader r = reader(false, "/");
	struct model m;

	begin_model(&m, NULL);
	watch(&m, 100, 0, "0::/web\n");
	watch(&m, 101, 0, "0::/web\n");
	watch(&m, 102, PROC_FINAL, "0::/db\n");
	scan(&r, &m);
	is_u64(n_seen, 1, "two processes in one cgroup, and one that has ended");
	is_str(seen[0].path, "/web", "the cgroup");
	is_u64(r.over, 0, "none is left out");
	watch(&m, 103, 0, "0::/db\n");
	fail_at = 1;
	ok(scan(&r, &m) == -EXDEV && n_records == 1, "an error of the consumer ends the scan");
	fail_at = 0;
	is_u64(scan(&r, &m), 0, "the next scan");
	is_u64(n_seen, 2, "has both cgroups");
	namespace = 1;
	r.looks = 0;
	scan(&r, &m);
	is_u64(n_seen, 0, "in a pid namespace, pids of processes are not those of /proc");
	namespace = INITIAL_NS;
	model_free(&m);
	pressure_close(&r);
}

/* Cgroups are listed at the first two scans, and at each sixteenth one after that. */
static void test_times(void)
{
	struct pressure_reader r = reader(false, "/");
	size_t seen_at[33];
	struct model m;
	bool right = true;

	begin_model(&m, NULL);
	watch(&m, 100, 0, "0::/none\n");
	for (size_t i = 0; i < 33; i++) {
		/* each time, the process is in another cgroup; only a new list shows it */
		watch(&m, 100, 0, i % 2 ? "0::/none\n" : "0::/web\n");
		scan(&r, &m);
		seen_at[i] = n_seen;
	}
	is_u64(seen_at[0], 1, "the first scan lists cgroups");
	is_u64(seen_at[1], 0, "so does the second one");
	for (size_t i = 2; i < 16; i++)
		right &= !seen_at[i];
	ok(right, "those behind it do not");
	is_u64(seen_at[16], 1, "the next list");
	for (size_t i = 17; i < 32; i++)
		right &= seen_at[i] == 1;
	ok(right, "is used until");
	watch(&m, 100, 0, "0::/none\n");
	r.looks = 32;
	scan(&r, &m);
	is_u64(n_seen, 0, "the list after it");
	model_free(&m);
	pressure_close(&r);
}

/* At most 32 processes are asked. */
static void test_many(void)
{
	for (unsigned int more = 0; more <= 1; more++) {
		struct pressure_reader r = reader(false, "/");
		struct model m;

		begin_model(&m, NULL);
		for (unsigned int i = 0; i < 32 + more; i++) {
			char name[32], text[64];

			snprintf(name, sizeof(name), "many%u", i);
			limit(name, "memory.max", "5");
			snprintf(text, sizeof(text), "0::/%s\n", name);
			watch(&m, 200 + i, 0, text);
		}
		scan(&r, &m);
		is_u64(n_seen, 32, "cgroups of the processes that are asked");
		model_free(&m);
		pressure_close(&r);
	}
}

static void set_score(uint32_t pid, const char *value, const char *adj)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/oom_score", pid);
	fake_file(&root, path, "%s", value);
	snprintf(path, sizeof(path), "proc/%u/oom_score_adj", pid);
	fake_file(&root, path, "%s", adj);
}

static int scan_scores(struct pressure_reader *r, const struct model *m)
{
	n_seen = n_scores = n_records = 0;
	return pressure_scan(r, m, &sink);
}

/* Scores show which process the kernel would kill. */
static void test_scores(void)
{
	struct pressure_reader r = {.root = -1, .scores = true, .looks = 2};
	struct model m;

	for (int i = 0; i < NR_PRESSURE_FILES; i++)
		r.fd[i] = -1;
	begin_model(&m, NULL);
	for (uint32_t pid = 300; pid < 307; pid++)
		watch(&m, pid, pid == 304 ? PROC_FINAL : pid == 305 ? PROC_NO_MM : 0, "0::/\n");
	set_score(300, "5\n", "-1\n");
	set_score(301, "9\n", "1000\n");
	set_score(302, "0\n", "7\n");
	set_score(303, "-3\n", "7\n");
	set_score(304, "99\n", "7\n");
	set_score(305, "98\n", "7\n");
	set_score(306, "", "7\n");
	is_u64(scan_scores(&r, &m), 0, "scores");
	is_u64(n_scores, 2, "processes that the kernel may kill");
	ok(score[0].subject.pid == 301 && score[0].score == 9 && score[0].adj == 1000,
	   "the highest first");
	ok(score[1].subject.pid == 300 && score[1].score == 5 && score[1].adj == -1, "the other");
	ok(score[0].nth == 0 && score[1].nth == 1, "in their order");
	fake_remove(&root, "proc/300/oom_score_adj");
	scan_scores(&r, &m);
	ok(score[1].subject.pid == 300 && score[1].adj == 0, "an adjustment that is not known");
	fail_at = 2;
	ok(scan_scores(&r, &m) == -EXDEV && n_records == 2, "an error with the first score");
	fail_at = 1;
	ok(scan_scores(&r, &m) == -EXDEV && n_records == 1, "an error before it");
	fail_at = 0;
	namespace = 1;
	scan_scores(&r, &m);
	is_u64(n_scores, 0, "a pid namespace");
	namespace = INITIAL_NS;
	model_free(&m);
}

int main(void)
{
	root = fakeroot_make();
	make_cgroups();
	test_chains();
	test_root();
	test_processes();
	test_times();
	test_many();
	test_scores();
	fakeroot_free(&root);
	return tap_done();
}
