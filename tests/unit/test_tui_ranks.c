// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the order of rows in the live view where values are equal, and which ended ones stay. */
#include <locale.h>
#include <math.h>

#include "model/ended.h"
#include "tui_fixture.h"

static void test_compare(void)
{
	static const struct {
		struct rank a, b;
		int order; /* below 0: `a` comes first */
		const char *why;
	} cases[] = {
		{{.severity = 2, .left = 9}, {.severity = 1, .left = 1}, -1, "the more severe"},
		{{.severity = 1}, {.severity = 2}, 1, "the more severe"},
		{{.severity = 3, .ended = true}, {.severity = 2}, -1, "severity counts before end"},
		{{.ended = true, .left = 1}, {.left = 2}, 1, "those that live"},
		{{.left = 2}, {.ended = true, .left = 1}, -1, "those that live"},
		{{.left = 1, .value = 1}, {.left = 2, .value = 2}, -1, "the one with less time"},
		{{.left = 2}, {.left = 1}, 1, "the one with less time"},
		{{.left = 5}, {.left = INFINITY}, -1, "one with a forecast"},
		{{.value = 2}, {.value = 1}, -1, "the higher value"},
		{{.value = 1}, {.value = 2}, 1, "the higher value"},
		{{.severity = 1, .ended = true, .left = 3, .value = 4},
		 {.severity = 1, .ended = true, .left = 3, .value = 4},
		 0,
		 "equal ones"},
		{{.left = INFINITY, .value = -1}, {.left = INFINITY, .value = -1}, 0, "equal ones"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int order = rank_compare(&cases[i].a, &cases[i].b, false);
		int inverted = rank_compare(&cases[i].a, &cases[i].b, true);

		ok((order > 0) - (order < 0) == cases[i].order, "%s first", cases[i].why);
		ok((inverted > 0) - (inverted < 0) == -cases[i].order, "and last if reversed");
	}
}

/* Makes the rows of the table as the screen shows them. */
static void make_rows(struct rows *r)
{
	struct view shown = v;

	shown.m = &t.shot.m;
	shown.findings = &t.findings;
	if (tui_rows(&t, &shown, r))
		abort();
}

static void test_equal_rows(void)
{
	static const uint32_t pids[] = {15, 11, 14, 12, 13};
	struct rows r;

	begin();
	for (size_t i = 0; i < 5; i++)
		process((struct given){pids[i], "equal", NULL, 7, 5, 50});
	look();
	make_rows(&r);
	is_u64(r.n, 5, "each process has a row");
	for (size_t i = 0; i < r.n; i++)
		is_u64(r.all[r.shown[i]].s->id.pid, 11 + i, "equal ones in the order of pids");
	rows_free(&r);
	t.inverted = true;
	make_rows(&r);
	for (size_t i = 0; i < r.n; i++)
		is_u64(r.all[r.shown[i]].s->id.pid, 11 + i, "also in the reversed order");
	rows_free(&r);
	end();
}

/* A cgroup comes before its members, and its members before the next cgroup. */
static void test_cgroup_order(void)
{
	static const char *const paths[] = {"/b",     "/a-b", "/a", "/a/x",
					    "/a/x/y", "/a.b", NULL, "/\303\251"};
	static const struct {
		const char *name; /* of a cgroup; NULL: a process */
		uint32_t pid;
		int depth;
		size_t below;
	} want[] = {
		{"/", 0, 0, 1},	   {NULL, 16, 1, 0}, {"/a", 0, 0, 5},	     {NULL, 12, 1, 0},
		{"/a/x", 0, 1, 3}, {NULL, 13, 2, 0}, {"/a/x/y", 0, 2, 1},    {NULL, 14, 3, 0},
		{"/a-b", 0, 0, 1}, {NULL, 11, 1, 0}, {"/a.b", 0, 0, 1},	     {NULL, 15, 1, 0},
		{"/b", 0, 0, 1},   {NULL, 10, 1, 0}, {"/\303\251", 0, 0, 1}, {NULL, 17, 1, 0},
	};
	struct rows r;

	begin();
	for (size_t i = 0; i < 8; i++)
		process((struct given){10 + i, "p", paths[i], 7, 5, 50});
	look();
	t.tree = TREE_OF_CGROUPS;
	make_rows(&r);
	is_u64(r.nr_all, sizeof(want) / sizeof(want[0]), "rows of processes and cgroups");
	for (size_t i = 0; i < r.nr_all && i < sizeof(want) / sizeof(want[0]); i++) {
		const struct row *row = &r.all[i];

		if (want[i].name)
			ok(!row->s && row->len == strlen(want[i].name) &&
				   !memcmp(row->path, want[i].name, row->len),
			   "row %zu is %s", i, want[i].name);
		else
			ok(row->s && row->s->id.pid == want[i].pid, "row %zu is a process", i);
		is_u64(row->depth, want[i].depth, "its depth");
		is_u64(row->below, want[i].below, "rows below it");
	}
	rows_free(&r);
	end();
}

static void end_process(uint32_t pid)
{
	struct process_record r = process_record(pid, 1, now + SECOND / 2);

	r.g.flags = PROC_BORN | PROC_FINAL;
	strcpy(r.g.comm, "leaves");
	model_take(&m, &r.h);
}

/* A process that ended stays for two windows. */
static void test_just_ended(void)
{
	begin();
	ok(!model_keep_ended(&m, 3), "ended processes are kept");
	process((struct given){10, "stays", NULL, 7, 5, 50});
	process((struct given){11, "leaves", NULL, 7, 5, 50});
	look();
	ok(line_with("leaves") >= 0, "it lives");
	end_process(11);
	look();
	ok(line_with("leaves") >= 0, "the window in which it ended");
	look();
	ok(line_with("leaves") >= 0, "the one after it");
	look();
	ok(line_with("leaves") < 0, "then it is gone");
	ok(line_with("stays") >= 0, "others stay");
	press("e");
	ok(line_with("leaves") >= 0 && line_with("stays") < 0, "e: those that ended");
	end();
}

/* The cursor keeps its place on the screen, and the screen is never emptier than needed. */
static void test_place(void)
{
	static const struct {
		size_t at, top, height;
		size_t want_at, want_top;
	} cases[] = {
		{0, 0, 4, 0, 0},  {3, 0, 4, 3, 0},  {4, 0, 4, 4, 1},  {9, 0, 4, 9, 6},
		{10, 0, 4, 9, 6}, {5, 6, 4, 5, 5},  {6, 6, 4, 6, 6},  {8, 7, 4, 8, 6},
		{0, 0, 10, 0, 0}, {9, 0, 10, 9, 0}, {9, 3, 11, 9, 0}, {9, 1, 9, 9, 1},
	};
	struct rows r;

	begin();
	for (uint32_t pid = 10; pid < 20; pid++)
		process((struct given){pid, "p", NULL, 7, 5, 50});
	look();
	make_rows(&r);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t.follows = false;
		t.at = cases[i].at;
		t.top = cases[i].top;
		tui_place(&t, &r, cases[i].height);
		is_u64(t.at, cases[i].want_at, "row of the cursor");
		is_u64(t.top, cases[i].want_top, "first row of the screen");
		is_u64(t.chosen.pid, 10 + cases[i].want_at, "process of the cursor");
	}
	t.follows = true;
	t.chosen = r.all[r.shown[7]].s->id;
	t.at = t.top = 0;
	tui_place(&t, &r, 4);
	ok(t.at == 7 && t.top == 4, "a cursor that follows goes where its process is");
	rows_free(&r);
	end();
}

static void test_words(void)
{
	static const struct {
		const char *words;
		bool matches;
	} cases[] = {
		{"", true},	     {" ", true},	  {"python3", true},	 {"PYTHON3", true},
		{"python33", false}, {"n3", true},	  {"p", true},		 {"4242", true},
		{"42420", false},    {"web.slice", true}, {"alice", true},	 {"train.py", true},
		{"py ali", true},    {"py  bob", false},  {" py  alice ", true}, {"bob py", false},
	};
	struct rows r;

	begin();
	process((struct given){4242, "python3", "/web.slice", 7, 5, 50, 1, "train.py", "alice"});
	look();
	make_rows(&r);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(tui_matches(&v, r.all[0].s, cases[i].words) == cases[i].matches, "\"%s\"",
		   cases[i].words);
	rows_free(&r);
	end();
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	test_compare();
	test_equal_rows();
	test_cgroup_order();
	test_just_ended();
	test_place();
	test_words();
	return tap_done();
}
