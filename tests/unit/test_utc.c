// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests times printed as UTC text. */
#include "render/utc.h"
#include "tap.h"

static void test_utc(void)
{
	static const struct {
		uint64_t wall_ns;
		const char *seconds, *milliseconds;
	} want[] = {
		{0, "-", "-"},
		{1, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"},
		{1709210096999999999, "2024-02-29T12:34:56Z", "2024-02-29T12:34:56.999Z"},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		is_str(as_utc(want[i].wall_ns).s, want[i].seconds, "as_utc");
		is_str(as_utc_ms(want[i].wall_ns).s, want[i].milliseconds, "as_utc_ms");
	}
	is_str(as_utc(UINT64_MAX).s, "2554-07-21T23:34:33Z", "the last time of 64 bits");
}

static void test_seconds(void)
{
	is_str(as_utc_of_seconds(-300000000).s, "1960-06-29T18:40:00Z", "before 1970");
	is_str(as_utc_of_seconds(0).s, "1970-01-01T00:00:00Z", "1970");
	is_str(as_utc_of_seconds(20000000000).s, "2603-10-11T11:33:20Z", "after 2554");
	is_str(as_utc_of_seconds(INT64_MAX).s, "-", "a year that does not fit");
}

int main(void)
{
	test_utc();
	test_seconds();
	return tap_done();
}
