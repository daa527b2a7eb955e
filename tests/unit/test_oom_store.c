// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the store of OOM kills: names and contents of its files, and which of them are removed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "fixture.h"
#include "probe/recording.h"
#include "session/oom_store.h"
#include "tap.h"

#define MIB (1ULL << 20)

static struct model m;

static void put_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		exit(1);
	close(fd);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

/* Adds a kill to the model: its record, a scene, and two processes that held memory. */
static void add_kill(uint32_t pid, uint64_t t_ns, uint64_t wall_ns)
{
	struct oom_record r = RECORD(oom_record, RECORD_OOM, t_ns);
	struct oom_scene_record s = RECORD(oom_scene_record, RECORD_OOM_SCENE, t_ns);
	struct oom_holder_record h = RECORD(oom_holder_record, RECORD_OOM_HOLDER, t_ns);

	r.subject.pid = s.subject.pid = h.subject.pid = pid;
	r.by = 77;
	r.stack = 5;
	r.group = 1;
	r.cgroup_id = 1000 + pid;
	strcpy(r.comm, "victim");
	model_take(&m, &r.h);
	s.kill_ns = h.kill_ns = t_ns;
	s.wall_ns = wall_ns;
	model_take(&m, &s.h);
	for (h.nth = 0; h.nth < 2; h.nth++) {
		h.pid = pid + h.nth;
		model_take(&m, &h.h);
	}
}

/* Adds another victim of the latest kill. */
static void add_victim(uint32_t pid)
{
	struct oom_record r = m.ooms->kill[m.ooms->n - 1].first;

	r.subject.pid = pid;
	r.h.t_ns++;
	r.score_adj = -3;
	r.rss_anon_pages = 10;
	r.rss_shmem_pages = 20;
	r.swap_pages = 30;
	strcpy(r.comm, "another");
	model_take(&m, &r.h);
}

static void is_listed(const char *dir, const char *const *want, size_t n, const char *what)
{
	struct stored_names names;

	is_u64(stored_names_read(dir, &names), 0, what);
	is_u64(names.n, n, "number of files");
	for (size_t i = 0; i < n && i < names.n; i++)
		is_str(names.name[i], want[i], "in order, the newest first");
	stored_names_free(&names);
	ok(!names.name && !names.n, "freed");
}

static void test_directory(void)
{
	struct oom_store s;
	char longest[PATH_MAX + 1];

	memset(&s, 1, sizeof(s));
	is_u64(oom_store_open(&s, fixture_path("none"), 0), 0, "a store of no kills");
	ok(!s.dir[0] && !mode_of(fixture_path("none")), "has no directory");
	is_u64(oom_store_open(&s, fixture_path("a/b"), 3), 0,
	       "a directory whose parent is missing");
	is_u64(mode_of(fixture_path("a")), 0755, "the parent is made");
	is_u64(mode_of(fixture_path("a/b")), 0700, "and the directory, for its owner only");
	is_str(s.dir, fixture_path("a/b"), "it is the store");
	is_u64(s.keep, 3, "of three kills");
	is_u64(oom_store_open(&s, fixture_path("a/b"), 1), 0, "a directory that exists");
	ok(oom_store_open(&s, fixture_path("c/d/e"), 1) == -ENOENT, "only one parent is made");
	put_file(fixture_path("file"));
	ok(oom_store_open(&s, fixture_path("file/x/y"), 1) == -ENOTDIR, "a parent that is a file");
	ok(oom_store_open(&s, fixture_path("file/x"), 1) == -ENOTDIR, "no directory");
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[PATH_MAX - STORED_NAME_BYTES] = 0;
	ok(oom_store_open(&s, longest, 1) == -ENAMETOOLONG, "no room for the names of files");
	longest[PATH_MAX - STORED_NAME_BYTES - 1] = 0;
	ok(oom_store_open(&s, longest, 1) == -ENAMETOOLONG, "a name that no file system has");
	ok(!s.dir[0], "nothing is stored there");
	is_u64(oom_store_write(&s, &m), 0, "nothing is written");
}

static void test_names(void)
{
	static const char *const others[] = {
		"20261128T142632.120Z-4207.fsx", "x0261128T142632.120Z-4207.fsr", ".fsr", "T.fsr",
		"20261128142632.120Z-4207.fsr", "0T.fs", "/0261128T142632.120Z-4207.fsr",
		":0261128T142632.120Z-4207.fsr",
		"20261128T142632.120Z-420700000000000000000000000000000000000.fsr"};
	static const char *const kills[] = {
		"9T.fsr", "20261128T142632.121Z-1.fsr",
		"20261128T142632.120Z-42070000000000000000000000000000000000.fsr",
		"20261128T142632.120Z-4207.fsr", "0T.fsr"};
	struct stored_names names;

	mkdir(fixture_path("names"), 0700);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char path[128] = "names/";

		strcat(path, others[i][0] == '/' ? others[i] + 1 : others[i]);
		if (others[i][0] != '/')
			put_file(fixture_path(path));
	}
	is_listed(fixture_path("names"), NULL, 0, "files that are no kills");
	for (size_t i = 0; i < sizeof(kills) / sizeof(kills[0]); i++) {
		char path[128] = "names/";

		strcat(path, kills[i]);
		put_file(fixture_path(path));
	}
	is_listed(fixture_path("names"), kills, sizeof(kills) / sizeof(kills[0]), "files of kills");
	ok(stored_names_read(fixture_path("absent"), &names) == -ENOENT && !names.n, "no store");
}

/* The records of a file, as a model has them. */
static struct {
	struct model m;
	struct frames_record stack;
	struct oom_record kill[OOM_VICTIMS_MAX];
	unsigned int kills, stacks, hosts, ticks;
} stored;

static int take(void *ctx, const struct record *h)
{
	if (h->kind == RECORD_FRAMES) {
		stored.stack = *(const struct frames_record *)h;
		stored.stacks++;
	}
	if (h->kind == RECORD_OOM && stored.kills < OOM_VICTIMS_MAX)
		stored.kill[stored.kills++] = *(const struct oom_record *)h;
	stored.hosts += h->kind == RECORD_HOST;
	stored.ticks += h->kind == RECORD_TICK;
	return model_take(&stored.m, h);
}

/* Reads a file of the store. */
static void read_file(const char *path)
{
	struct sink sink = {.take = take};
	struct source *src = NULL;
	char error[512];
	int err;

	memset(&stored, 0, sizeof(stored));
	if (model_init(&stored.m) || replay_open(path, &src, error, sizeof(error)))
		exit(1);
	do
		err = src->ops->look(src, &sink);
	while (!err);
	is_u64(err, 1, "the file is whole");
	ok(replay_facts(src)->ended, "and has its end");
	src->ops->close(src);
}

static void add_stack(void)
{
	struct frames_record f = RECORD(frames_record, RECORD_FRAMES, SECOND);
	struct process_record p = process_record(77, 1, SECOND);

	model_take(&m, &p.h);
	f.subject = p.subject;
	f.stack = 4;
	f.flags = FRAMES_SHORT;
	f.end = 3;
	f.by_chain = 2;
	strcpy(f.text, "allocate (app)");
	model_take(&m, &f.h);
}

#define WALL (1795877792 * SECOND) /* 2026-11-28 14:56:32 UTC */

static void test_contents(void)
{
	static const char *const name[] = {"20261128T145632.120Z-10.fsr"};
	struct oom_store s;
	const struct oom_kill *k;

	begin_model(&m, NULL);
	add_stack();
	add_kill(10, 2 * SECOND, WALL + 120 * SECOND / 1000);
	oom_store_open(&s, fixture_path("store"), 3);
	is_u64(oom_store_write(&s, &m), 0, "a kill is stored");
	ok(s.stored == 1 && !s.failed && s.serial == 1 && s.victims == 1, "it is counted");
	is_listed(fixture_path("store"), name, 1, "its file has the time and the victim");
	is_u64(mode_of(fixture_path("store/20261128T145632.120Z-10.fsr")), 0600,
	       "for its owner only");
	read_file(fixture_path("store/20261128T145632.120Z-10.fsr"));
	k = stored.m.ooms->kill;
	ok(stored.hosts == 1 && stored.ticks == 1, "the host and its limits");
	is_u64(stored.m.ooms->n, 1, "one kill");
	ok(k->first.subject.pid == 10 && k->first.h.t_ns == 2 * SECOND && k->first.by == 77,
	   "the record of the kill");
	ok(k->has_scene && k->scene.wall_ns == WALL + 120 * SECOND / 1000, "its scene");
	ok(k->holders == 2 && k->holder[1].pid == 11, "processes that held memory");
	ok(stored.stacks == 1 && stored.stack.subject.pid == 10 && stored.stack.stack == 4 &&
		   stored.stack.flags == FRAMES_SHORT && stored.stack.end == 3 &&
		   stored.stack.by_chain == 2,
	   "the stack of the request, under the victim");
	is_str(stored.stack.text, "allocate (app)", "its frames");
	model_free(&stored.m);

	is_u64(oom_store_write(&s, &m), 0, "once more");
	is_u64(s.stored, 1, "it is not stored again");
	add_victim(20);
	is_u64(oom_store_write(&s, &m), 0, "with another victim");
	ok(s.stored == 1 && s.victims == 2, "the kill is stored again, but counted once");
	is_listed(fixture_path("store"), name, 1, "in the same file");
	read_file(fixture_path("store/20261128T145632.120Z-10.fsr"));
	is_u64(stored.kills, 2, "two victims");
	ok(stored.kill[1].subject.pid == 20 && stored.kill[1].score_adj == -3 &&
		   !strcmp(stored.kill[1].comm, "another"),
	   "the second");
	ok(stored.kill[1].rss_anon_pages == 60 && !stored.kill[1].rss_shmem_pages &&
		   !stored.kill[1].swap_pages,
	   "its memory");
	model_free(&stored.m);
	for (uint32_t pid = 21; pid < 30; pid++)
		add_victim(pid);
	oom_store_write(&s, &m);
	read_file(fixture_path("store/20261128T145632.120Z-10.fsr"));
	is_u64(stored.kills, OOM_VICTIMS_MAX, "as many victims as are listed");
	model_free(&stored.m);
	model_free(&m);
}

/* Tests that only the newest kills are kept. */
static void test_limit(void)
{
	static const char *const names[] = {"20261128T145642.000Z-15.fsr",
					    "20261128T145640.000Z-14.fsr",
					    "20261128T145639.000Z-13.fsr"};
	struct oom_store s;

	begin_model(&m, NULL);
	oom_store_open(&s, fixture_path("few"), 2);
	put_file(fixture_path("few/other.fsr"));
	put_file(fixture_path("few/20200101T000000.000Z-1.fsr"));
	for (uint32_t i = 0; i < 5; i++)
		add_kill(10 + i, (2 + 3 * i) * SECOND, WALL + (4 + i) * SECOND);
	is_u64(oom_store_write(&s, &m), 0, "five kills");
	ok(s.stored == 5 && s.serial == 5, "were stored");
	is_listed(fixture_path("few"), names + 1, 2, "the newest are left");
	add_kill(15, 40 * SECOND, WALL + 10 * SECOND);
	oom_store_write(&s, &m);
	is_listed(fixture_path("few"), names, 2, "a new one replaces the oldest");
	is_u64(mode_of(fixture_path("few/other.fsr")), 0600, "other files are left alone");
	model_free(&m);
}

/* Tests a directory into which nothing can be written. */
static void test_failure(void)
{
	struct oom_store s;

	begin_model(&m, NULL);
	oom_store_open(&s, fixture_path("gone"), 2);
	rmdir(fixture_path("gone"));
	for (uint32_t i = 0; i < 2; i++)
		add_kill(10 + i, (2 + 3 * i) * SECOND, WALL + i * SECOND);
	ok(oom_store_write(&s, &m) == -ENOENT, "the directory was removed");
	ok(!s.stored && s.failed == 2, "no kill is stored");
	mkdir(fixture_path("gone"), 0700);
	is_u64(oom_store_write(&s, &m), 0, "later");
	ok(!s.stored && s.failed == 2, "kills that failed are not tried again");
	model_free(&m);
	begin_model(&m, NULL);
	memset(&m.host, 0, sizeof(m.host));
	memset(&m.tick, 0, sizeof(m.tick));
	add_kill(10, 2 * SECOND, WALL);
	oom_store_open(&s, fixture_path("gone"), 2);
	is_u64(oom_store_write(&s, &m), 0, "a kill before the first scan");
	read_file(fixture_path("gone/20261128T145632.000Z-10.fsr"));
	ok(!stored.hosts && !stored.ticks && !stored.stacks && stored.kills == 1,
	   "has only its own records");
	model_free(&stored.m);
	model_free(&m);
}

int main(void)
{
	umask(022);
	test_directory();
	test_names();
	test_contents();
	test_limit();
	test_failure();
	return tap_done();
}
