// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the points of a curve and of a series: which are kept, and when a rise is a burst. */
#include "model/curve.h"
#include "model/series.h"
#include "tap.h"

#define SECOND 1000000000ULL
#define MS     1000000ULL

static void test_curve(void)
{
	struct curve c = {};

	for (uint64_t i = 0; i < CURVE_POINTS; i++)
		curve_add(&c, (10 + i) * SECOND, 100 + i);
	ok(c.n == CURVE_POINTS && c.point[1].value == 101, "as many points as there is room for");
	curve_add(&c, (10 + CURVE_POINTS - 1) * SECOND, 7);
	curve_add(&c, 5 * SECOND, 7);
	ok(c.n == CURVE_POINTS && c.point[CURVE_POINTS - 1].value == 100 + CURVE_POINTS - 1,
	   "a value at the time of the last point, or before it, is ignored");
	curve_add(&c, 50 * SECOND, 500);
	is_u64(c.n, CURVE_POINTS - CURVE_POINTS / 4 + 1, "every second one of the older half goes");
	ok(c.point[0].value == 100 && c.point[1].value == 102 &&
		   c.point[CURVE_POINTS / 4 - 1].value == 100 + CURVE_POINTS / 2 - 2,
	   "but not the first one");
	ok(c.point[CURVE_POINTS / 4].value == 100 + CURVE_POINTS / 2 &&
		   c.point[CURVE_POINTS / 4 + 1].value == 101 + CURVE_POINTS / 2,
	   "the later half stays");
	is_u64(c.point[c.n - 1].value, 500, "and the new one is the last");
}

static void test_old(void)
{
	struct curve c = {};

	curve_add(&c, SECOND, 1);
	curve_add(&c, 2 * SECOND, 2);
	curve_add(&c, 3601 * SECOND, 3);
	is_u64(c.n, 3, "a point of an hour ago stays");
	curve_add(&c, 3602 * SECOND + 1, 4);
	ok(c.n == 2 && c.point[0].value == 3 && c.point[1].value == 4, "older ones go");
}

/* Points are at least a step apart: a value within a step is added to the last point. */
static void test_steps(void)
{
	struct series s = {};

	series_add(&s, SECOND, 100);
	series_add(&s, SECOND + SERIES_STEP_NS - 1, 150);
	ok(s.n == 1 && s.point[0].high == 150 && s.point[0].t_ns == SECOND,
	   "less than a step after the first point");
	series_add(&s, SECOND + SERIES_STEP_NS, 140);
	ok(s.n == 2 && s.point[1].high == 150 && s.point[1].low == 140, "a step: another point");
	series_add(&s, SECOND + 2 * SERIES_STEP_NS - 1, 160);
	ok(s.n == 3, "a step after the point before it");
	series_add(&s, SECOND + 2 * SERIES_STEP_NS - 1, 130);
	ok(s.n == 3 && s.point[2].high == 160 && s.point[2].low == 130, "the same time again");
	series_add(&s, SECOND, 170);
	ok(s.last_ns == SECOND + 2 * SERIES_STEP_NS - 1 && s.point[2].high == 170,
	   "an earlier time is that of the last value");
}

/* A burst is a rise within 0.9 s, or between two scans. */
static void test_bursts(void)
{
	struct series s = {};
	struct bursts b = series_bursts(NULL);

	ok(!b.largest && !b.second, "without values there is none");
	series_add(&s, 10 * SECOND, 100);
	series_add(&s, 10 * SECOND + 500 * MS, 130);
	series_add(&s, 10 * SECOND + 900 * MS, 150);
	b = series_bursts(&s);
	ok(b.largest == 50 && !b.second, "0.9 s from its beginning on");
	series_add(&s, 10 * SECOND + 900 * MS + 1, 160);
	b = series_bursts(&s);
	ok(b.largest == 50 && b.second == 10, "and what follows is another one");
	series_add(&s, 10 * SECOND + 910 * MS, 155);
	series_add(&s, 10 * SECOND + 920 * MS, 185);
	b = series_bursts(&s);
	ok(b.largest == 50 && b.second == 30, "a fall ends a burst");
	series_add(&s, 10 * SECOND + 930 * MS, 184);
	series_add(&s, 10 * SECOND + 940 * MS, 234);
	b = series_bursts(&s);
	ok(b.largest == 50 && b.second == 50, "as large as the largest");
	series_add(&s, 10 * SECOND + 950 * MS, 0);
	series_add(&s, 10 * SECOND + 960 * MS, 60);
	b = series_bursts(&s);
	ok(b.largest == 60 && b.second == 50, "a larger one");
	series_add(&s, 30 * SECOND, 150);
	b = series_bursts(&s);
	ok(b.largest == 90 && b.second == 60, "a rise between two scans");
}

int main(void)
{
	test_curve();
	test_old();
	test_steps();
	test_bursts();
	return tap_done();
}
