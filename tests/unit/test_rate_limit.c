// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/rate_limit.h"
#include "tap.h"

#define MS 1000000ULL

static void test_intervals(void)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"0", 0},
		{"0s", 0},
		{"250ms", 250 * MS},
		{"1.5s", 1500 * MS},
		{"1m30s", 90000 * MS},
		{".5s", 500 * MS},
		{"2us", 2000},
		{"5ns", 5},
		{"3599s999999999ns", 3599999999999},
		{"3600s", 3600000000000},
		{"1h", 3600000 * MS},
	};
	static const char *const bad[] = {"",	 "1",	 "s",	  ".s",	      "1 s",
					  "-1s", "1sx",	 "1h1ns", "3600s1ns", "2h",
					  "nan", "0x1s", "infs",  "1d",	      "9e9h"};
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(rate_interval_read(good[i].text, &ns) && ns == good[i].ns, "%s", good[i].text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ns = 7;
		ok(!rate_interval_read(bad[i], &ns) && ns == 7, "%s", bad[i]);
	}
}

static void test_bucket(void)
{
	struct rate_limit r = {.interval_ns = 10 * MS, .burst = 3};
	struct rate_limit none = {};

	for (int i = 0; i < 1000; i++)
		if (!rate_limit_take(&none, 1))
			ok(false, "without a limit");
	for (int i = 0; i < 3; i++)
		ok(rate_limit_take(&r, 100 * MS), "of a full bucket");
	ok(!rate_limit_take(&r, 100 * MS), "empty");
	ok(!rate_limit_take(&r, 109 * MS), "not yet");
	ok(rate_limit_take(&r, 110 * MS), "the next token");
	ok(!rate_limit_take(&r, 110 * MS), "and no other");
	for (int i = 0; i < 3; i++)
		ok(rate_limit_take(&r, 9999 * MS), "full again");
	ok(!rate_limit_take(&r, 9999 * MS), "and not fuller");
}

int main(void)
{
	test_intervals();
	test_bucket();
	return tap_done();
}
