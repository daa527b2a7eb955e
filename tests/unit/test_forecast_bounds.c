// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests forecasts of values that grow evenly: when there is one, when it is sure, and what it says.
 */
#include <stdlib.h>

#include "model/series.h"
#include "tap.h"

#define SECOND 1000000000ULL

/* A value that grows by `each` in each of `seconds` seconds, from 0 on. */
static struct series growing(uint64_t seconds, uint64_t each)
{
	struct series s = {};

	for (uint64_t t = 0; t <= seconds; t++)
		series_add(&s, (1000 + t) * SECOND, t * each);
	return s;
}

static struct forecast forecast_of(uint64_t seconds, uint64_t each, uint64_t limit)
{
	struct series s = growing(seconds, each);

	return series_forecast(&s, (1000 + seconds) * SECOND, limit);
}

static bool is_near(double got, double want)
{
	return got > want * 0.999 && got < want * 1.001;
}

static void test_values(void)
{
	struct forecast f = forecast_of(100, 1000, 150000);

	ok(f.known && is_near(f.seconds, 50) && is_near(f.per_second, 1000),
	   "50,000 are left at 1000 a second");
	/* 3 %, and 8 % for each length of the window ahead: a factor of 1.07 */
	ok(is_near(f.low, 50 / 1.07) && is_near(f.high, 50 * 1.07), "within 7 %%: %g to %g", f.low,
	   f.high);
	f = forecast_of(100, 1000, 300000);
	ok(f.known && is_near(f.seconds, 200), "twice as far ahead as it grew");
	ok(is_near(f.low, 200 / 1.19) && is_near(f.high, 200 * 1.19), "within 19 %%: %g to %g",
	   f.low, f.high);
}

static void test_known(void)
{
	static const struct {
		const char *what;
		uint64_t seconds, each, limit;
		bool known;
	} cases[] = {
		{"a limit that is reached", 100, 1000, 100000, false},
		{"one that is exceeded", 100, 1000, 99999, false},
		{"one more", 100, 1000, 100001, true},
		{"three points", 2, 1000, 3000, false},
		{"four points", 3, 1000, 4000, true},
		{"a value that does not grow", 100, 0, 100, false},
		{"a limit of 0", 100, 0, 0, false},
		{"nearly ten times as far ahead", 100, 1000, 100000 + 990000, true},
		{"and further", 100, 1000, 100000 + 1010000, false},
	};
	struct series none = {};

	ok(!series_forecast(NULL, SECOND, 100).known && !series_forecast(&none, SECOND, 100).known,
	   "no values");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(forecast_of(cases[i].seconds, cases[i].each, cases[i].limit).known ==
			   cases[i].known,
		   "%s: %s", cases[i].what, cases[i].known ? "known" : "not known");
}

/* If at most 2 % of the limit are left, it will almost surely be reached. */
static void test_sure(void)
{
	ok(forecast_of(98, 1000, 100000).sure, "2 %% are left");
	ok(!forecast_of(98, 1000, 100001).sure && forecast_of(98, 1000, 100001).known,
	   "one more is left");
	ok(forecast_of(98, 1000, 98001).sure, "one is left");
}

/* A value that is not told of has not changed: it grows no more. */
static void test_idle(void)
{
	struct series s = growing(100, 1000);
	struct forecast f;

	f = series_forecast(&s, 900 * SECOND, 150000);
	ok(f.known && is_near(f.seconds, 50), "a time before the last value is that of the value");
	f = series_forecast(&s, 1100 * SECOND + SERIES_STEP_NS, 150000);
	ok(f.known, "just after it, growth goes on");
	f = series_forecast(&s, 1200 * SECOND, 150000);
	ok(!f.known, "after as long a time as it grew, there is no forecast");
	f = series_forecast(&s, 2100 * SECOND, 150000);
	ok(!f.known, "nor later");
}

/* A value that levels off reaches no limit; one that grows again does. */
static void test_slowing(void)
{
	struct series s = growing(100, 1000);
	struct forecast f;

	for (uint64_t t = 1; t <= 100; t++)
		series_add(&s, (1100 + t) * SECOND, 100000 + t * 10);
	f = series_forecast(&s, 1200 * SECOND, 150000);
	ok(!f.known || f.seconds > 1000, "a hundredth of the rate");
	for (uint64_t t = 1; t <= 100; t++)
		series_add(&s, (1200 + t) * SECOND, 101000 + t * 1000);
	f = series_forecast(&s, 1300 * SECOND, 250000);
	ok(f.known && f.low < 49 && f.high > 49, "growth as before: %g s", f.seconds);
}

/* A rate that rises or falls evenly is continued. */
static void test_bent(void)
{
	struct series faster = {}, slower = {};
	struct forecast f;

	for (uint64_t t = 0; t <= 100; t++) {
		series_add(&faster, (1000 + t) * SECOND, 10 * t * t);
		series_add(&slower, (1000 + t) * SECOND, 3000 * t - 10 * t * t);
	}
	/* 10 t² is 160,000 after 126.5 s */
	f = series_forecast(&faster, 1100 * SECOND, 160000);
	ok(f.known && f.low < 26.5 && f.high > 26.5 && f.per_second > 1500,
	   "a rate that rises: %g s, %g to %g", f.seconds, f.low, f.high);
	/* 3000 t - 10 t² is 216,000 after 120 s */
	f = series_forecast(&slower, 1100 * SECOND, 216000);
	ok(f.known && f.low < 20 && f.high > 20, "a rate that falls: %g s, %g to %g", f.seconds,
	   f.low, f.high);
	/* it is never more than 225,000 */
	f = series_forecast(&slower, 1100 * SECOND, 400000);
	ok(!f.known, "a limit that such a value never reaches");
}

int main(void)
{
	test_values();
	test_known();
	test_sure();
	test_idle();
	test_slowing();
	test_bent();
	return tap_done();
}
