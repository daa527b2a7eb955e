// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the table of the phases of a program: which of many phases and columns it shows. */
#include <stdlib.h>

#include "fixture.h"
#include "model/phases.h"
#include "render/text/text.h"
#include "tap.h"

#define ROWS 40
#define MIB  (1ULL << 20)

static struct phases all;
static struct model m = {.phases = &all};
static struct view v;
static struct buf b;

/* Adds a phase of a second after which the program has this much more memory, in MiB. */
static struct phase *add(const char *name, int64_t kept, uint64_t peak)
{
	struct phase *p = &all.phase[all.n++];

	*p = (struct phase){.began_ns = all.n * SECOND, .ended_ns = (all.n + 1) * SECOND};
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->began.rss_bytes = 100 * MIB;
	p->ended.rss_bytes = (100 + kept) * MIB;
	p->rss_peak_bytes = peak * MIB;
	return p;
}

static void add_many(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char name[24];

		snprintf(name, sizeof(name), "p%02zu", i);
		add(name, i * 7 % n, 100);
	}
}

static void begin(int width)
{
	memset(&all, 0, sizeof(all));
	v = (struct view){.m = &m, .width = width};
}

/* Returns the text, until the next call. */
static const char *text(void)
{
	buf_clear(&b);
	text_phases(&b, &v);
	return b.s ? b.s : "";
}

static size_t lines(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

/* Returns whether the table has a phase. */
static bool has(const char *s, size_t i)
{
	char name[24];

	snprintf(name, sizeof(name), "  p%02zu\n", i);
	return strstr(s, name);
}

static void test_few(void)
{
	begin(150);
	is_str(text(), "", "no phase");
	add("first", 3, 150);
	add("second", 1, 120);
	ok(strstr(text(), "first") < strstr(text(), "second"), "in the order of time");
	is_u64(lines(text()), 3, "a title, and a line for each");
	ok(strstr(text(), "  PHASE\n") && strstr(text(), "TIME"), "the title");
	begin(150);
	add_many(ROWS);
	is_u64(lines(text()), ROWS + 1, "as many as fit");
	ok(!strstr(text(), "more"), "none is left out");
	for (size_t i = 0; i + 1 < ROWS; i++) {
		char one[24], next[24];

		snprintf(one, sizeof(one), "  p%02zu\n", i);
		snprintf(next, sizeof(next), "  p%02zu\n", i + 1);
		if (strstr(text(), one) > strstr(text(), next))
			ok(false, "phase %zu is in its place", i);
	}
}

/* Of many phases, those after which most memory remained are shown. */
static void test_many(void)
{
	size_t bad = 0;

	begin(150);
	add_many(ROWS + 7);
	for (size_t i = 0; i < ROWS + 7; i++)
		bad += has(text(), i) != (i * 7 % (ROWS + 7) >= 7);
	is_u64(bad, 0, "the phases that are shown");
	is_u64(lines(text()), ROWS + 2, "a title, the phases, and a note");
	ok(strstr(text(), "\n  7 phases more, after which less memory remained: --json has all\n"),
	   "the note");
	ok(strstr(text(), "  p01\n") < strstr(text(), "  p46\n"), "still in the order of time");
}

/* Among phases that left as much memory, the peak decides; memory may also have become less. */
static void test_equal(void)
{
	begin(150);
	add("shrank", -5, 900);
	add("low", 0, 100);
	for (size_t i = 0; i < ROWS; i++)
		add("middle", 0, 200);
	ok(!strstr(text(), "shrank") && !strstr(text(), "low"), "the least are left out");
	ok(strstr(text(), "2 phases more"), "two of them");
	begin(150);
	add("high", 0, 300);
	for (size_t i = 0; i < ROWS; i++)
		add("middle", 0, 200);
	ok(strstr(text(), "high"), "a high peak is not");
}

static void test_missed(void)
{
	begin(150);
	add("only", 1, 100);
	all.missed = 3;
	ok(strstr(text(), "  3 phases more have no values: only the first 8,192 are kept\n"),
	   "phases that were not kept");
}

/* Columns without a value are left out, and those that do not fit. */
static void test_columns(void)
{
	size_t wide, narrow;

	begin(150);
	add("one", 2, 100)->ended.minor = 50;
	ok(strstr(text(), " 50 ") && strstr(text(), "2.00 MiB"), "values");
	ok(!strstr(text(), "STALL"), "columns without values are left out");
	all.phase[0].ended.stall_ns = 5000000;
	all.phase[0].ended.failed_calls = 9;
	all.phase[0].maps_peak = all.phase[0].fds_peak = 77;
	all.phase[0].ended.maps = all.phase[0].ended.fds = 33;
	wide = strcspn(text(), "\n");
	v.width = 60;
	narrow = strcspn(text(), "\n");
	ok(narrow <= 60 && narrow < wide, "%zu columns instead of %zu", narrow, wide);
	ok(strstr(text(), "  one\n"), "the name is whole");
}

int main(void)
{
	test_few();
	test_many();
	test_equal();
	test_missed();
	test_columns();
	buf_free(&b);
	return tap_done();
}
