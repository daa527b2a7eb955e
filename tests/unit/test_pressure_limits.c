// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the bounds of what the model keeps about cgroups, mounts and pressure of the host. */
#include "fixture.h"
#include "model/pressure.h"
#include "tap.h"

#define MIB (1ULL << 20)

static struct model m;

static struct cgroup_record cgroup_at(const char *path, uint64_t t_ns)
{
	struct cgroup_record r = RECORD(cgroup_record, RECORD_LEVEL, t_ns);

	memset(r.n, 0xff, sizeof(r.n)); /* FIGURE_UNKNOWN */
	snprintf(r.path, sizeof(r.path), "%s", path);
	return r;
}

static struct mount_record mount_at(const char *path, uint64_t t_ns)
{
	struct mount_record r = RECORD(mount_record, RECORD_MOUNT, t_ns);

	snprintf(r.path, sizeof(r.path), "%s", path);
	r.flags = MOUNT_IN_MEMORY;
	return r;
}

static void tick(uint64_t t_ns)
{
	struct tick_record t = tick_record(t_ns);

	model_take(&m, &t.h);
	model_next_window(&m);
}

/* The growth of a value is recorded from half of its limit on. */
static void test_watched(void)
{
	static const struct {
		const char *what;
		uint64_t used, limit;
		bool watched;
	} cases[] = {
		{"half of the limit", 50000, 100000, true},
		{"less than half", 49999, 100000, false},
		{"more than half", 50001, 100000, true},
		{"all", 1000, 1000, true},
		{"no limit", 500, FIGURE_UNKNOWN, false},
		{"a limit of nothing", 500, 0, false},
		{"a use that is not known", FIGURE_UNKNOWN, 1000, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_record c = cgroup_at("/a", SECOND);
		struct mount_record u = mount_at("/tmp", SECOND);

		begin_model(&m, NULL);
		c.n[CGROUP_ANON] = cases[i].used;
		c.n[CGROUP_LIMIT] = cases[i].limit;
		u.used_bytes = cases[i].used;
		u.size_bytes = cases[i].limit;
		model_take(&m, &c.h);
		model_take(&m, &u.h);
		is_u64(m.pressure->level[0].series.n, cases[i].watched, cases[i].what);
		is_u64(m.pressure->mount[0].series.n, cases[i].watched, "so for a mount");
		ok(level_has_limit(&m.pressure->level[0]) ==
			   (cases[i].limit && cases[i].limit != FIGURE_UNKNOWN),
		   "and whether there is a limit");
		c.h.t_ns = u.h.t_ns = 2 * SECOND;
		c.n[CGROUP_ANON] = u.used_bytes = 1;
		model_take(&m, &c.h);
		model_take(&m, &u.h);
		is_u64(m.pressure->level[0].series.n, 2 * cases[i].watched, "watched for good");
		is_u64(m.pressure->mount[0].series.n, 2 * cases[i].watched, "or not at all");
		model_free(&m);
	}
}

static void test_kept_bytes(void)
{
	struct level l = {.now = cgroup_at("/a", SECOND)};

	l.now.n[CGROUP_SHMEM] = 30;
	l.now.n[CGROUP_KERNEL] = 500;
	ok(level_kept_bytes(&l) == FIGURE_UNKNOWN, "without its anonymous memory it is not known");
	l.now.n[CGROUP_ANON] = 7;
	l.now.n[CGROUP_FILE] = 9000;
	is_u64(level_kept_bytes(&l), 537, "anonymous, shared and kernel memory");
	l.now.n[CGROUP_SHMEM] = FIGURE_UNKNOWN;
	is_u64(level_kept_bytes(&l), 507, "a part that is not known counts as none");
}

static void test_mount_may_matter(void)
{
	static const struct {
		const char *what;
		uint32_t flags;
		uint64_t used, free;
		bool matters;
	} cases[] = {
		{"a tmpfs of which 5 % are used", MOUNT_IN_MEMORY, 5000, 95000, false},
		{"a tmpfs of which more are used", MOUNT_IN_MEMORY, 5001, 94999, true},
		{"a disk of which 1 % is free", 0, 99000, 1000, false},
		{"a disk of which less is free", 0, 99001, 999, true},
		{"an empty disk", 0, 0, 100000, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mount_record r = mount_at("/x", SECOND);

		r.flags = cases[i].flags;
		r.size_bytes = 100000;
		r.used_bytes = cases[i].used;
		r.free_bytes = cases[i].free;
		ok(mount_may_matter(&r) == cases[i].matters, "%s", cases[i].what);
	}
}

static void test_paths(void)
{
	static const struct {
		const char *cgroup;
		uint32_t up;
		const char *above; /* NULL: not known */
	} cases[] = {
		{"/a/b", 0, "/a/b"},	 {"/a/b", 1, "/a"}, {"/a/b", 2, "/"}, {"/a/b", 3, NULL},
		{"/", 0, "/"},		 {"/", 1, NULL},    {"a", 0, "a"},    {"a", 1, NULL},
		{"/a/bcdefgh", 1, "/a"}, {NULL, 0, NULL},
	};
	const struct level l = {.now = cgroup_at("/a/b", SECOND)};
	char ret[11], small[10];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool known = cgroup_above(cases[i].cgroup, cases[i].up, ret, sizeof(ret));

		is_str(known ? ret : NULL, cases[i].above, "a cgroup some levels higher");
	}
	ok(!cgroup_above("/a/bcdefgh", 0, small, sizeof(small)), "a path of the buffer's size");
	ok(cgroup_above("/a/bcdefg", 0, small, sizeof(small)) && !strcmp(small, "/a/bcdefg"),
	   "one byte less fits");
	ok(cgroup_is_within("/a/b", "/a/b") && cgroup_is_within("/a/b/c", "/a/b"), "within");
	ok(!cgroup_is_within("/a/bc", "/a/b") && !cgroup_is_within("/a", "/a/b"), "not within");
	ok(cgroup_is_within("/a", "/") && cgroup_is_within("/", "/"), "all is within the root");
	ok(level_holds(&l, "/a/b") && level_holds(&l, "/a/b/c") && !level_holds(&l, "/a"),
	   "a level holds its cgroup and those below");
	ok(!cgroup_is_within(NULL, "/") && !cgroup_is_within("/a", ""), "not known");
}

static uint64_t base_s(void)
{
	return m.pressure->level[0].base.h.t_ns / SECOND;
}

/* Rates are measured over 10 to 20 s. */
static void test_base(void)
{
	const struct level *l;

	begin_model(&m, NULL);
	for (uint64_t t = 1; t <= 31; t++) {
		struct cgroup_record c = cgroup_at("/a", t * SECOND);

		c.n[CGROUP_OOMS] = 1000 + 3 * t;
		c.some =
			(struct stall){.total_us = 1000000 + 500000 * t, .avg10 = 2000, .known = 1};
		c.full = (struct stall){.total_us = 250000 * t, .avg10 = 1000, .known = 1};
		if (t == 11)
			c.h.t_ns--; /* just less than 10 s after the first one */
		model_take(&m, &c.h);
		l = &m.pressure->level[0];
		if (t == 1)
			ok(level_rate(l, CGROUP_OOMS) < 0 && level_stall(l, false) == 0.2 &&
				   level_stall(l, true) == 0.1,
			   "of one record there is no rate, but the kernel's mean");
		if (t == 11)
			ok(level_stall(l, false) == 0.2 && level_stall(l, true) == 0.1,
			   "in the first 10 s, the kernel's mean");
		if (t == 12)
			ok(level_stall(l, false) == 0.5 && level_stall(l, true) == 0.25 &&
				   base_s() == 1 && l->newer.h.t_ns == 12 * SECOND,
			   "after 10 s, a share of the time measured");
		if (t == 21)
			ok(base_s() == 1 && level_rate(l, CGROUP_OOMS) == 3, "20 s");
		if (t == 22)
			ok(base_s() == 12 && l->newer.h.t_ns == 22 * SECOND &&
				   level_rate(l, CGROUP_OOMS) == 3 && level_stall(l, true) == 0.25,
			   "10 s after the newer one, that one is the base, and 10 s are enough");
	}
	is_u64(m.pressure->level[0].used.n, 0, "a use that is not known has no curve");
	m.pressure->level[0].now.n[CGROUP_OOMS] = 5;
	ok(level_rate(&m.pressure->level[0], CGROUP_OOMS) == 0, "a counter that fell has no rate");
	m.pressure->level[0].base.n[CGROUP_OOMS] = FIGURE_UNKNOWN;
	ok(level_rate(&m.pressure->level[0], CGROUP_OOMS) == -1, "nor has one without a base");
	m.pressure->level[0].now.full.known = 0;
	ok(level_stall(&m.pressure->level[0], true) == -1, "without PSI, a stall is not known");
	model_free(&m);
}

static bool has_level(const char *path)
{
	for (size_t i = 0; i < m.pressure->levels; i++)
		if (!strcmp(m.pressure->level[i].now.path, path))
			return true;
	return false;
}

static void test_many_cgroups(void)
{
	struct cgroup_record c;
	size_t odd = 0;
	char path[32];

	begin_model(&m, NULL);
	for (int i = 0; i < LEVELS_MAX; i++) {
		snprintf(path, sizeof(path), "/c%d", i);
		c = cgroup_at(path, SECOND + 1);
		model_take(&m, &c.h);
	}
	is_u64(m.pressure->levels, LEVELS_MAX, "as many cgroups as there is room for");
	is_u64(m.pressure->lost, 0, "none is lost");
	for (int i = 0; i < LEVELS_MAX; i++)
		odd += m.pressure->level[i].id.start_ns % 2 && !m.pressure->level[i].id.pid;
	is_u64(odd, LEVELS_MAX, "no key is that of a process, or of nothing");
	ok(!m.pressure->mounts, "nothing else is written over");
	c = cgroup_at("/one-more", SECOND + 1);
	model_take(&m, &c.h);
	is_u64(m.pressure->lost, 1, "one more is lost");
	ok(m.pressure->levels == LEVELS_MAX && has_level("/c0") && !has_level("/one-more"),
	   "all others stay");
	c = cgroup_at("/c7", SECOND + 2);
	c.n[CGROUP_USED] = 5;
	model_take(&m, &c.h);
	ok(m.pressure->lost == 1 && m.pressure->level[7].used.n == 1, "a known one has its place");
	tick(2 * SECOND);
	tick(3 * SECOND);
	ok(!level_is_there(&m, &m.pressure->level[5]), "no scan saw it again");
	m.pressure->level[5].now.h.t_ns = 2 * SECOND;
	ok(!level_is_there(&m, &m.pressure->level[5]), "a record of the scan before");
	m.pressure->level[5].now.h.t_ns++;
	ok(level_is_there(&m, &m.pressure->level[5]), "a record since that scan");
	m.pressure->level[5].now.h.t_ns = SECOND;
	c = cgroup_at("/c5", 3 * SECOND + 1);
	model_take(&m, &c.h);
	ok(level_is_there(&m, &m.pressure->level[5]), "this one was seen");
	c = cgroup_at("/new", 3 * SECOND + 1);
	model_take(&m, &c.h);
	ok(has_level("/new") && has_level("/c5") && m.pressure->lost == 1 &&
		   m.pressure->levels == LEVELS_MAX,
	   "one that is gone gives its place");
	model_free(&m);
}

static bool has_mount(const char *path)
{
	for (size_t i = 0; i < m.pressure->mounts; i++)
		if (!strcmp(m.pressure->mount[i].now.path, path))
			return true;
	return false;
}

static void test_many_mounts(void)
{
	struct mount_record r;
	char path[32];

	begin_model(&m, NULL);
	for (int i = 0; i < MOUNTS_MAX; i++) {
		snprintf(path, sizeof(path), "/m%d", i);
		r = mount_at(path, SECOND + 1);
		model_take(&m, &r.h);
	}
	ok(m.pressure->mounts == MOUNTS_MAX && !m.pressure->lost && !m.pressure->scores,
	   "as many mounts as there is room for");
	r = mount_at("/m0", SECOND + 1);
	r.pid = 7;
	model_take(&m, &r.h);
	ok(m.pressure->lost == 1 && has_mount("/m0"), "one more, of another process, is lost");
	tick(2 * SECOND);
	ok(mount_is_there(&m, &m.pressure->mount[3]), "the last scan saw it");
	tick(3 * SECOND);
	ok(!mount_is_there(&m, &m.pressure->mount[3]), "and this one did not");
	m.pressure->mount[3].now.h.t_ns = 2 * SECOND;
	ok(!mount_is_there(&m, &m.pressure->mount[3]), "a record of the scan before");
	m.pressure->mount[3].now.h.t_ns++;
	ok(mount_is_there(&m, &m.pressure->mount[3]), "a record since that scan");
	m.pressure->mount[3].now.h.t_ns = SECOND;
	r = mount_at("/new", 3 * SECOND + 1);
	model_take(&m, &r.h);
	ok(has_mount("/new") && m.pressure->mounts == MOUNTS_MAX && m.pressure->lost == 1,
	   "one that is gone gives its place");
	model_free(&m);
}

static void test_largest_file(void)
{
	struct mount_record r = mount_at("/tmp", SECOND);
	const struct mount_use *u;

	begin_model(&m, NULL);
	r.used_bytes = 40;
	model_take(&m, &r.h);
	u = &m.pressure->mount[0];
	is_str(u->now.largest, "", "a scan measures no files");
	r.h.t_ns = 2 * SECOND;
	strcpy(r.largest, "b");
	r.largest_bytes = 30;
	r.largest_uid = 1000;
	r.unnamed_bytes = 8;
	model_take(&m, &r.h);
	r = mount_at("/tmp", 3 * SECOND);
	r.used_bytes = 41;
	model_take(&m, &r.h);
	is_str(u->now.largest, "b", "the file that was found when a call failed stays");
	is_u64(u->now.largest_bytes, 30, "with its size");
	is_u64(u->now.largest_uid, 1000, "its owner");
	is_u64(u->now.unnamed_bytes, 8, "and what no file has");
	is_u64(u->now.used_bytes, 41, "and the use is new");
	strcpy(r.largest, "o");
	r.h.t_ns = 4 * SECOND;
	r.largest_bytes = 20;
	model_take(&m, &r.h);
	is_str(u->now.largest, "o", "until another is found");
	is_u64(u->now.largest_bytes, 20, "whose size it has");
	is_u64(u->now.unnamed_bytes, 0, "alone");
	model_free(&m);
}

static void test_scores(void)
{
	struct score_record r = RECORD(score_record, RECORD_SCORE, SECOND);

	begin_model(&m, NULL);
	for (r.nth = 0; r.nth <= SCORES_MAX; r.nth++) {
		r.score = 900 - r.nth;
		model_take(&m, &r.h);
		is_u64(m.pressure->scores, r.nth < SCORES_MAX ? r.nth + 1 : SCORES_MAX,
		       "no more scores than there is room for");
	}
	is_u64(m.pressure->score[SCORES_MAX - 1].score, 900 - SCORES_MAX + 1, "the last one");
	r.nth = 0;
	model_take(&m, &r.h);
	is_u64(m.pressure->scores, 1, "the first one begins a new list");
	model_free(&m);
}

static void test_forecasts(void)
{
	struct forecast f;

	begin_model(&m, NULL);
	for (uint64_t t = 1; t <= 60; t++) {
		struct cgroup_record c = cgroup_at("/a", t * SECOND);
		struct mount_record u = mount_at("/tmp", t * SECOND);

		c.n[CGROUP_ANON] = u.used_bytes = (500 + t) * MIB;
		c.n[CGROUP_LIMIT] = u.size_bytes = 600 * MIB;
		model_take(&m, &c.h);
		model_take(&m, &u.h);
		tick(t * SECOND);
	}
	f = level_forecast(&m, &m.pressure->level[0]);
	ok(f.known && f.seconds > 35 && f.seconds < 45, "a cgroup is full in 40 s");
	f = mount_forecast(&m, &m.pressure->mount[0]);
	ok(f.known && f.seconds > 35 && f.seconds < 45, "and so is a mount");
	m.pressure->level[0].now.n[CGROUP_LIMIT] = FIGURE_UNKNOWN;
	ok(!level_forecast(&m, &m.pressure->level[0]).known, "without a limit it never is");
	m.pressure->mount[0].series.n = m.pressure->level[0].series.n = 0;
	m.pressure->level[0].now.n[CGROUP_LIMIT] = 600 * MIB;
	ok(!level_forecast(&m, &m.pressure->level[0]).known, "without values it is not known");
	ok(!mount_forecast(&m, &m.pressure->mount[0]).known, "of a mount, too");
	model_free(&m);
}

static void test_host(void)
{
	struct pressure_record r = RECORD(pressure_record, RECORD_SHORTAGE, SECOND);
	struct score_record score = RECORD(score_record, RECORD_SCORE, SECOND);

	begin_model(&m, NULL);
	ok(host_figure(&m, HOST_ANON) == FIGURE_UNKNOWN && host_stall(&m, true) == -1 &&
		   host_rate(&m, HOST_ANON) == -1,
	   "without records nothing is known");
	is_u64(model_take(&m, &score.h), 0, "a score");
	ok(host_figure(&m, HOST_ANON) == FIGURE_UNKNOWN && host_stall(&m, true) == -1 &&
		   host_rate(&m, HOST_ANON) == -1,
	   "nor with one of a process alone");
	r.n[HOST_ANON] = 77;
	r.n[HOST_SWAP_IN] = 100;
	r.full = r.some = (struct stall){.total_us = 5, .avg10 = 300, .known = 1};
	model_take(&m, &r.h);
	is_u64(host_figure(&m, HOST_ANON), 77, "a value");
	r.h.t_ns = 11 * SECOND;
	r.n[HOST_SWAP_IN] = 140;
	r.full.total_us += 1000000;
	r.some.total_us += 2000000;
	model_take(&m, &r.h);
	ok(host_rate(&m, HOST_SWAP_IN) == 4, "a rate");
	ok(host_stall(&m, true) == 0.1 && host_stall(&m, false) == 0.2, "and shares of the time");
	model_free(&m);
}

/* A key tells what a finding is about: equal paths do not make things equal. */
static void test_keys(void)
{
	struct cgroup_record c = cgroup_at("/a", SECOND);
	struct mount_record u = mount_at("/a", SECOND);
	const struct pressure *p;

	begin_model(&m, NULL);
	is_u64(model_take(&m, &c.h), 0, "a cgroup");
	is_u64(model_take(&m, &u.h), 0, "a mount");
	u.pid = 1;
	is_u64(model_take(&m, &u.h), 0, "a mount of a process");
	p = m.pressure;
	ok(p->levels == 1 && p->mounts == 2 && p->level[0].id.start_ns != p->mount[0].id.start_ns &&
		   p->level[0].id.start_ns != p->mount[1].id.start_ns &&
		   p->mount[0].id.start_ns != p->mount[1].id.start_ns,
	   "three keys");
	model_free(&m);
}

int main(void)
{
	test_keys();
	test_watched();
	test_kept_bytes();
	test_mount_may_matter();
	test_paths();
	test_base();
	test_many_cgroups();
	test_many_mounts();
	test_largest_file();
	test_scores();
	test_forecasts();
	test_host();
	is_str(host_figure_key(HOST_CACHED), "cached_bytes", "the key of a value of the host");
	is_str(cgroup_figure_key(CGROUP_LIMIT), "limit_bytes", "and of one of a cgroup");
	return tap_done();
}
