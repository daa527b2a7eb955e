// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "fixture.h"
#include "tap.h"

#define LIMIT  65530
#define TRIALS 200

static uint64_t seed = 42;

/* Uniform in -1 to 1. */
static double noise(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 11) / (1ULL << 52) - 1;
}

/* A value each `every` seconds, `n` of them. */
static void fill(struct series *s, int n, double every, double (*value)(double t))
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < n; i++)
		series_add(s, SECOND + i * every * SECOND, value(i * every));
}

static double linear(double t)
{
	return 1000 + 100 * t;
}

static double flat(double t)
{
	return 30000;
}

static double saw_tooth(double t)
{
	return 20000 + 1000 * fmod(t, 7);
}

static double falling(double t)
{
	return 60000 - 10 * t;
}

static double decelerating(double t)
{
	return 8000 * sqrt(t);
}

static double plateau(double t)
{
	return t < 10 ? 4000 * t : 40000;
}

static double up_and_down(double t)
{
	return 30000 + 10000 * sin(t / 3);
}

static void test_shapes(void)
{
	struct series s;
	struct forecast f;

	fill(&s, 30, 1, linear);
	f = series_forecast(&s, LIMIT);
	ok(f.known && fabs(f.per_second - 100) < 0.01, "linear: its rate");
	ok(fabs(f.seconds - (LIMIT - linear(29)) / 100) < 0.01, "linear: when");
	ok(f.low <= f.seconds && f.seconds <= f.high, "linear: within its interval");
	ok(!series_forecast(&s, linear(29)).known, "none at the limit");
	ok(!series_forecast(&s, 1000).known, "none past the limit");
	ok(series_forecast(&s, linear(29) + 1).known, "one below the limit");
	fill(&s, 30, 1, flat);
	ok(!series_forecast(&s, LIMIT).known, "flat: none");
	fill(&s, 30, 1, saw_tooth);
	ok(!series_forecast(&s, LIMIT).known, "saw-tooth: none");
	fill(&s, 1000, 0.5, saw_tooth);
	ok(!series_forecast(&s, LIMIT).known, "saw-tooth, thinned out: none");
	fill(&s, 30, 1, up_and_down);
	ok(!series_forecast(&s, LIMIT).known, "up and down: none");
	fill(&s, 30, 1, falling);
	ok(!series_forecast(&s, LIMIT).known, "falling: none");
	fill(&s, 60, 1, plateau);
	ok(!series_forecast(&s, LIMIT).known, "grown once, then flat: none");
	fill(&s, 30, 1, decelerating);
	f = series_forecast(&s, LIMIT);
	/* it reaches the limit at t = (65530 / 8000)^2 = 67.1 */
	ok(!f.known || (f.low <= f.seconds && f.seconds <= f.high),
	   "decelerating: within its interval");
	ok(!f.known || f.low <= 67.1 - 29, "decelerating: warns early, not late");
}

static void test_few(void)
{
	struct series s = {};

	ok(!series_forecast(NULL, LIMIT).known, "no series: none");
	ok(!series_forecast(&s, LIMIT).known, "no points: none");
	for (int i = 1; i <= 3; i++) {
		fill(&s, i, 1, linear);
		ok(!series_forecast(&s, LIMIT).known, "%d points: none", i);
	}
	fill(&s, 4, 1, linear);
	ok(series_forecast(&s, LIMIT).known, "4 points: one");
	fill(&s, 1000, 0.00001, linear);
	ok(s.n == 1 && !series_forecast(&s, LIMIT).known,
	   "a thousand points in 10 ms are one: none");
}

static void test_thinning(void)
{
	struct series s = {};
	bool sorted = true, spaced = true;

	fill(&s, 100000, 0.1, linear);
	for (uint32_t i = 1; i < s.n; i++) {
		sorted &= s.point[i].t_ns > s.point[i - 1].t_ns;
		spaced &= s.point[i].t_ns >= s.point[i - 1].t_ns + s.step_ns / 2;
	}
	ok(s.n <= SERIES_POINTS && s.n >= SERIES_POINTS / 2, "the points stay within their room");
	ok(sorted && spaced, "in order of time, and apart");
	ok(s.point[0].value <= linear(200), "from the beginning");
	memset(&s, 0, sizeof(s));
	series_add(&s, SECOND, 10);
	series_add(&s, SECOND + 1, 90);
	series_add(&s, SECOND + 2, 20);
	ok(s.n == 1 && s.point[0].value == 90, "within a step the highest is kept");
	series_add(&s, SECOND / 2, 95);
	ok(s.n == 1 && s.point[0].value == 95, "a time before the last makes no point");
}

/* Noisy linear growth of many slopes: how often the interval holds the truth. */
static void test_coverage(double every, double amplitude, const char *name)
{
	int held = 0, given = 0;

	for (int i = 0; i < TRIALS; i++) {
		double slope = 20 + 180 * fabs(noise()), t = 0, truth;
		struct series s = {};
		struct forecast f;

		for (int k = 0; k < 60; k++) {
			t = k * every;
			series_add(&s, SECOND + t * SECOND,
				   10000 + slope * t + amplitude * slope * noise());
		}
		truth = (200000 - (10000 + slope * t)) / slope;
		f = series_forecast(&s, 200000);
		given += f.known;
		/* what is shown has three digits or less */
		held += f.known && f.low <= truth * 1.01 && f.high >= truth * 0.99;
	}
	ok(given >= TRIALS * 9 / 10, "%s: a forecast in %d of %d", name, given, TRIALS);
	ok(held >= given * 9 / 10 && held, "%s: the interval holds the truth in %d of %d", name,
	   held, given);
}

static void test_extremes(void)
{
	struct series s = {};
	struct forecast f;

	for (int i = 0; i < 40; i++)
		series_add(&s, UINT64_MAX - 1000 + i, i);
	f = series_forecast(&s, UINT64_MAX - 1);
	ok(!f.known || (isfinite(f.seconds) && isfinite(f.low) && isfinite(f.high)),
	   "times at the end of the clock give no infinite forecast");
	memset(&s, 0, sizeof(s));
	for (int i = 0; i < 10; i++)
		series_add(&s, i * SECOND, i & 1 ? UINT32_MAX : 0);
	ok(!series_forecast(&s, UINT64_MAX - 1).known, "the widest swings: none");
}

int main(void)
{
	test_shapes();
	test_few();
	test_thinning();
	test_coverage(1, 1, "noise of a second's growth");
	test_coverage(1, 3, "noise of three seconds' growth");
	test_coverage(0.2, 0.5, "five looks a second");
	test_coverage(1, 0, "no noise but rounding");
	test_extremes();
	return tap_done();
}
