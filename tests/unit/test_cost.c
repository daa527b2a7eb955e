// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cost.h"
#include "tap.h"

static void test_quantiles(void)
{
	static const double one[] = {7}, four[] = {1, 2, 3, 4}, five[] = {10, 20, 30, 40, 50};

	ok(quantile_of(one, 1, 0) == 7 && quantile_of(one, 1, 1) == 7, "of one value it is that");
	ok(quantile_of(five, 5, 0.5) == 30, "the middle of five");
	ok(quantile_of(five, 5, 0.25) == 20 && quantile_of(five, 5, 0.75) == 40,
	   "the quartiles of five");
	ok(quantile_of(four, 4, 0.5) == 2.5, "between the middle two of four");
	ok(quantile_of(four, 4, 0.25) == 1.75, "interpolated");
	ok(quantile_of(four, 4, 0) == 1 && quantile_of(four, 4, 1) == 4, "the ends");
}

static void test_measured(void)
{
	double values[] = {50, 10, 40, 20, 30};
	struct cost c = {.per = "fault", .why = "left from before"};

	cost_judge(&c, values, 5);
	ok(c.measured, "clear of nothing: measured");
	ok(c.low == 20 && c.median == 30 && c.high == 40, "median and quartiles, of any order");
	is_str(c.why, "", "no reason then");
	is_str(c.per, "fault", "what it is of stays");
}

static void test_outlier(void)
{
	double values[] = {100, 101, 102, 103, 1e9, -1e9, 99};
	struct cost c = {};

	cost_judge(&c, values, 7);
	ok(c.measured && c.low > 90 && c.high < 110, "an outlier either way does not move it");
}

static void test_noise(void)
{
	double around[] = {-20, -10, 0, 10, 20}, touching[] = {0, 0, 0, 5, 9},
	       less[] = {-5, -4, -3, -2, -1};
	struct cost c = {};

	cost_judge(&c, around, 5);
	ok(!c.measured, "around nothing: not measurable");
	ok(strstr(c.why, "noise") && strstr(c.why, "-10 to 10"), "and how large the noise is: %s",
	   c.why);
	cost_judge(&c, touching, 5);
	ok(!c.measured, "the lower quartile is nothing: not measurable");
	cost_judge(&c, less, 5);
	ok(!c.measured, "a gain is no cost");
}

static void test_too_few(void)
{
	double values[] = {1, 2, 3, 4};
	struct cost c = {.measured = true};

	cost_judge(&c, values, 4);
	ok(!c.measured && strstr(c.why, "too few"), "four are too few: %s", c.why);
	cost_judge(&c, values, 0);
	ok(!c.measured && c.why[0], "none are too few");
}

int main(void)
{
	test_quantiles();
	test_measured();
	test_outlier();
	test_noise();
	test_too_few();
	return tap_done();
}
