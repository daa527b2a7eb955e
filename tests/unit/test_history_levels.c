// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests which cgroups a history keeps, their limits, and the peaks of their memory. */
#include "fixture.h"
#include "model/history_levels.h"
#include "model/pressure.h"
#include "tap.h"

static struct model m;
static struct history_levels l;

static struct cgroup_record cgroup(const char *path)
{
	struct cgroup_record r = RECORD(cgroup_record, RECORD_LEVEL, SECOND + 1);

	memset(r.n, 0xff, sizeof(r.n)); /* FIGURE_UNKNOWN */
	snprintf(r.path, sizeof(r.path), "%s", path);
	return r;
}

static void begin(void)
{
	begin_model(&m, NULL);
	memset(&l, 0, sizeof(l));
}

static void end(void)
{
	history_levels_free(&l);
	ok(!l.level && !l.n, "nothing is left");
	model_free(&m);
}

static void test_limits(void)
{
	static const struct {
		const char *what;
		uint64_t max, high, limit; /* limit 0: the cgroup is not kept */
	} cases[] = {
		{"memory.max", 500, FIGURE_UNKNOWN, 500},
		{"memory.high alone", FIGURE_UNKNOWN, 300, 300},
		{"both", 500, 300, 500},
		{"neither", FIGURE_UNKNOWN, FIGURE_UNKNOWN, 0},
		{"memory.high of 0", FIGURE_UNKNOWN, 0, 0},
		{"memory.max of 0", 0, FIGURE_UNKNOWN, 0},
		{"memory.max of 0, and memory.high", 0, 300, 300},
		{"a limit of one byte", 1, FIGURE_UNKNOWN, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroup_record r = cgroup("/a");

		begin();
		r.n[CGROUP_LIMIT] = cases[i].max;
		r.n[CGROUP_HIGH] = cases[i].high;
		model_take(&m, &r.h);
		is_u64(-history_levels_scan(&l, &m, 0), 0, cases[i].what);
		is_u64(l.n, cases[i].limit != 0, "kept if it has a limit");
		if (l.n)
			ok(l.level[0].limit == cases[i].limit && l.level[0].high == cases[i].high &&
				   !strcmp(l.level[0].path, "/a"),
			   "with its limit");
		end();
	}
}

/* A point has the highest value of its scans. */
static void test_peaks(void)
{
	static const uint64_t used[] = {100, 99, 101, FIGURE_UNKNOWN, 50};
	static const uint64_t peak[] = {100, 100, 101, 101, 101};
	struct cgroup_record r = cgroup("/a");

	begin();
	r.n[CGROUP_LIMIT] = 1000;
	for (size_t i = 0; i < 5; i++) {
		r.n[CGROUP_USED] = used[i];
		r.n[CGROUP_ANON] = used[i];
		model_take(&m, &r.h);
		history_levels_scan(&l, &m, 3);
		is_u64(l.level[0].used[3], peak[i], "the peak of the memory in use");
		is_u64(l.level[0].kept[3], peak[i], "and of what is not reclaimable");
	}
	r.n[CGROUP_USED] = 0;
	model_take(&m, &r.h);
	history_levels_scan(&l, &m, HISTORY_POINTS_MAX - 1);
	is_u64(l.level[0].used[HISTORY_POINTS_MAX - 1], 0, "none in use, at the last point");
	ok(l.level[0].used[0] == UINT64_MAX && l.level[0].used[4] == UINT64_MAX &&
		   l.level[0].kept[2] == UINT64_MAX,
	   "no value at other points");
	m.prev_ns = r.h.t_ns;
	l.level[0].limit = 7;
	history_levels_scan(&l, &m, 0);
	is_u64(l.level[0].limit, 7, "a cgroup that the last scan did not see stays as it was");
	end();
}

static void test_halve(void)
{
	static const uint64_t pairs[][3] = {
		{5, 7, 7},
		{7, 5, 7},
		{6, 6, 6},
		{UINT64_MAX, 4, 4},
		{4, UINT64_MAX, 4},
		{0, 0, 0},
		{UINT64_MAX, UINT64_MAX, UINT64_MAX},
	};
	const size_t n = sizeof(pairs) / sizeof(pairs[0]);
	struct cgroup_record r = cgroup("/a");
	size_t empty = 0;

	begin();
	r.n[CGROUP_LIMIT] = 1000;
	model_take(&m, &r.h);
	history_levels_scan(&l, &m, 0);
	for (size_t i = 0; i < n; i++) {
		l.level[0].used[2 * i] = l.level[0].kept[2 * i + 1] = pairs[i][0];
		l.level[0].used[2 * i + 1] = l.level[0].kept[2 * i] = pairs[i][1];
	}
	l.level[0].used[HISTORY_POINTS_MAX - 2] = l.level[0].kept[HISTORY_POINTS_MAX - 1] = 9;
	history_levels_halve(&l);
	for (size_t i = 0; i < n; i++)
		ok(l.level[0].used[i] == pairs[i][2] && l.level[0].kept[i] == pairs[i][2],
		   "a pair becomes its higher value");
	ok(l.level[0].used[HISTORY_POINTS_MAX / 2 - 1] == 9 &&
		   l.level[0].kept[HISTORY_POINTS_MAX / 2 - 1] == 9,
	   "also the last pair");
	for (size_t i = HISTORY_POINTS_MAX / 2; i < HISTORY_POINTS_MAX; i++)
		empty += l.level[0].used[i] == UINT64_MAX && l.level[0].kept[i] == UINT64_MAX;
	is_u64(empty, HISTORY_POINTS_MAX / 2, "the second half is empty");
	end();
}

/* The cgroup that limits a process, some levels above its own. */
static void test_process(void)
{
	static const struct {
		const char *what, *cgroup;
		struct level_room room;
		bool final;
		const char *path; /* NULL: none is kept */
	} cases[] = {
		{"its own", "/a/b", {.used = 5, .limit = 9, .known = 1}, false, "/a/b"},
		{"one above", "/a/b", {.used = 5, .limit = 9, .known = 1, .up = 1}, false, "/a"},
		{"the root", "/a/b", {.used = 5, .limit = 9, .known = 1, .up = 2}, false, "/"},
		{"too far up", "/a/b", {.used = 5, .limit = 9, .known = 1, .up = 3}, false, NULL},
		{"not read", "/a", {.used = 5, .limit = 9}, false, NULL},
		{"no limit", "/a", {.used = 5, .limit = UINT64_MAX, .known = 1}, false, NULL},
		{"a limit of 0", "/a", {.used = 5, .known = 1}, false, NULL},
		{"no cgroup", NULL, {.used = 5, .limit = 9, .known = 1}, false, NULL},
		{"a process that ended", "/a", {.used = 5, .limit = 9, .known = 1}, true, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct subject s = {.memory = cases[i].room,
				    .final = cases[i].final,
				    .cgroup = (char *)cases[i].cgroup};

		begin();
		is_u64(-history_levels_add(&l, &m, &s, 2), 0, cases[i].what);
		is_str(l.n ? l.level[0].path : NULL, cases[i].path, "the cgroup");
		if (l.n)
			ok(l.level[0].limit == 9 && l.level[0].used[2] == 5 &&
				   l.level[0].kept[2] == UINT64_MAX &&
				   l.level[0].high == FIGURE_UNKNOWN,
			   "its limit and use");
		end();
	}
}

static void test_many(void)
{
	struct subject s = {.memory = {.used = 5, .limit = 9, .known = 1}};
	char path[32];

	begin();
	s.cgroup = path;
	for (int i = 0; i < HISTORY_LEVELS_MAX; i++) {
		snprintf(path, sizeof(path), "/c%d", i);
		history_levels_add(&l, &m, &s, 0);
	}
	ok(l.n == HISTORY_LEVELS_MAX && !l.lost, "as many cgroups as there is room for");
	strcpy(path, "/one-more");
	is_u64(-history_levels_add(&l, &m, &s, 0), 0, "one more");
	ok(l.n == HISTORY_LEVELS_MAX && l.lost == 1, "is lost");
	strcpy(path, "/c0");
	s.memory.used = 6;
	history_levels_add(&l, &m, &s, 0);
	ok(l.lost == 1 && l.level[0].used[0] == 6, "a known one has its place");
	end();
}

int main(void)
{
	test_limits();
	test_peaks();
	test_halve();
	test_process();
	test_many();
	return tap_done();
}
