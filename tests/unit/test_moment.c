// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/moment.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"

#define S	    1000000000ULL
#define BEGIN	    (1000 * S)
#define MICROSECOND 1000
#define LONG_NS	    (30 * 3600 * S)
#define NOON	    1795608000ULL /* 2026-11-25T12:00:00Z */

/* A recording of 30 hours, which begins at noon (UTC). */
static const struct moment_span span = {BEGIN, BEGIN + LONG_NS, NOON *S};

static void is_at(const char *text, double after_begin)
{
	struct moment m = {};
	uint64_t ns = 0;
	double off;

	if (!ok(!moment_parse(text, &m), "\"%s\" is a moment", text))
		return;
	ok(!moment_resolve(&m, &span, &ns), "\"%s\" can be found", text);
	off = (double)ns - BEGIN - after_begin * S;
	ok(off > -MICROSECOND && off < MICROSECOND, "\"%s\" is %g s after the beginning", text,
	   after_begin);
}

static void is_none(const char *text)
{
	struct moment m = {};

	ok(moment_parse(text, &m) == -EINVAL, "\"%s\" is no moment", text);
}

static void test_moments(void)
{
	is_at("0", 0);
	is_at("90", 90);
	is_at("90s", 90);
	is_at("+90s", 90);
	is_at("1.5", 1.5);
	is_at("5m", 300);
	is_at("2h", 7200);
	is_at("-2m", 30 * 3600 - 120);
	is_at("-0", 30 * 3600);
	is_at("12:00", 0);
	is_at("14:03", 2 * 3600 + 180);
	is_at("14:03:20", 2 * 3600 + 200);
	is_at("14:03:20.25", 2 * 3600 + 200.25);
	is_at("2026-11-25T12:00:07.635Z", 7.635);
	is_at("11:00", 23 * 3600);
	is_at("00:00:00", 12 * 3600);
	is_at("2026-11-25T12:00:07Z", 7);
	is_at("2026-11-25T11:59:50Z", -10);
	is_at("2026-11-26T12:01Z", 86400 + 60);
	is_at("2026-11-26 12:01", 86400 + 60);
}

static void test_no_moments(void)
{
	is_none("");
	is_none("-");
	is_none("x");
	is_none("5x");
	is_none("--5");
	is_none("+-5");
	is_none("14:");
	is_none("25:00");
	is_none("14:60");
	is_none("14:03:20x");
	is_none("2026-11-25");
	is_none("2026-13-25T10:00");
	is_none("2026-11-25T10:00+");
	is_none("2026-11-25T10:00Zx");
	is_none("2026-11-25 at 10:00");
}

/* Clock times and dates without a Z are in the time zone of the reader. */
static void test_time_zone(void)
{
	setenv("TZ", "XYZ-5", 1); /* five hours east of Greenwich */
	tzset();
	is_at("17:00", 0);
	is_at("2026-11-25T17:00:05", 5);
	is_at("2026-11-25T12:00:05Z", 5);
	setenv("TZ", "UTC0", 1);
	tzset();
}

static void test_limits(void)
{
	const struct moment_span brief = {BEGIN, BEGIN + 60 * S, NOON * S},
				 no_wall = {BEGIN, BEGIN};
	struct moment m = {};
	uint64_t ns = 0;

	moment_parse("11:59:59", &m);
	moment_resolve(&m, &brief, &ns);
	is_u64(ns, BEGIN - S, "a clock time just before the recording");
	moment_parse("12:02", &m);
	moment_resolve(&m, &brief, &ns);
	is_u64(ns, BEGIN + 120 * S, "a clock time just after the recording");
	moment_parse("2020-01-01T00:00Z", &m);
	moment_resolve(&m, &brief, &ns);
	is_u64(ns, 0, "a time long before is never negative");
	ok(moment_resolve(&m, &no_wall, &ns) == -ENODATA, "a recording without a clock");
	moment_parse("10s", &m);
	ok(!moment_resolve(&m, &no_wall, &ns) && ns == BEGIN + 10 * S, "needs none for seconds");
}

/* A recording that begins before midnight and ends after it. */
static void test_midnight(void)
{
	const struct moment_span night = {BEGIN, BEGIN + 600 * S, (NOON + 43200 - 300) * S};
	const struct {
		const char *text;
		int64_t after_s; /* seconds after the beginning, which is at 23:55 */
	} cases[] = {{"23:58", 180},  {"00:02", 420},  {"00:30", 2100},
		     {"23:50", -300}, {"23:45", -600}, {"00:00", 300}};
	struct moment m = {};
	uint64_t ns = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		moment_parse(cases[i].text, &m);
		moment_resolve(&m, &night, &ns);
		ok(ns == BEGIN + cases[i].after_s * S, "%s in a recording across midnight",
		   cases[i].text);
	}
}

/* In a night when clocks go back, a day has 25 hours. */
static void test_long_day(void)
{
	/* 2026-10-25 00:30 in a zone with summer time: 2026-10-24T22:30Z */
	const struct moment_span longest = {BEGIN, BEGIN + 40 * 3600 * S, 1792881000ULL * S};
	struct moment m = {};
	uint64_t ns = 0;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	moment_parse("00:10", &m);
	moment_resolve(&m, &longest, &ns);
	is_u64(ns, BEGIN + 88800 * S, "the next 00:10 is 24 h 40 min after half past midnight");
	setenv("TZ", "UTC0", 1);
	tzset();
}

int main(void)
{
	setenv("TZ", "UTC0", 1);
	test_moments();
	test_no_moments();
	test_time_zone();
	test_limits();
	test_midnight();
	test_long_day();
	return tap_done();
}
