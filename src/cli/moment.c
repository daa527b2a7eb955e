// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "cli/moment.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/units.h"

#define NS_PER_S  1000000000.0
#define END_OF(s) ((s) && !*(s))

/*
 * Reads HH:MM, HH:MM:SS or HH:MM:SS.FFF into a broken-down time and the fraction of a second.
 * Returns the text behind it, or NULL.
 */
static const char *read_clock(const char *text, struct tm *tm, double *ret_fraction)
{
	const char *end = strptime(text, "%H:%M:%S", tm);
	double unit = 0.1;

	*ret_fraction = 0;
	if (!end) {
		tm->tm_sec = 0;
		return strptime(text, "%H:%M", tm);
	}
	if (*end != '.')
		return end;
	for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
		*ret_fraction += (*end - '0') * unit;
	return end;
}

static int parse_date(const char *text, struct moment *ret)
{
	struct tm tm = {.tm_isdst = -1};
	double fraction;
	const char *end = strptime(text, "%Y-%m-%d", &tm);

	if (!end || (*end != 'T' && *end != ' '))
		return -EINVAL;
	end = read_clock(end + 1, &tm, &fraction);
	if (!end || (*end && strcmp(end, "Z") != 0))
		return -EINVAL;
	*ret = (struct moment){MOMENT_DATE, (*end ? timegm(&tm) : mktime(&tm)) + fraction};
	return 0;
}

static int parse_clock(const char *text, struct moment *ret)
{
	struct tm tm = {};
	double fraction;
	const char *end = read_clock(text, &tm, &fraction);

	if (!END_OF(end))
		return -EINVAL;
	*ret = (struct moment){MOMENT_CLOCK,
			       tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec + fraction};
	return 0;
}

int moment_parse(const char *text, struct moment *ret)
{
	double seconds;

	if (strchr(text, ':'))
		return strchr(text, '-') ? parse_date(text, ret) : parse_clock(text, ret);
	if (parse_seconds_or_0(text + (*text == '-' || *text == '+'), &seconds))
		return -EINVAL;
	*ret = (struct moment){*text == '-' ? MOMENT_BEFORE_END : MOMENT_AFTER_BEGIN, seconds};
	return 0;
}

/* Returns the Unix time of a clock time, `days` after the local day of `begin`. */
static double date_after(time_t begin, int days, double clock)
{
	struct tm tm;

	localtime_r(&begin, &tm);
	tm.tm_mday += days;
	tm.tm_hour = (int)clock / 3600;
	tm.tm_min = (int)clock / 60 % 60;
	tm.tm_sec = (int)clock % 60;
	tm.tm_isdst = -1;
	return mktime(&tm) + clock - (int)clock;
}

/*
 * Returns the Unix time of a clock time: the first one in the recording, or else the nearest one
 * before or after it. Of a recording from 23:55 to 00:05, 00:30 is after the end.
 */
static double date_of_clock(double clock, const struct moment_span *of)
{
	time_t begin = of->wall_ns / 1000000000;
	double end = begin + (of->end_ns - of->begin_ns) / NS_PER_S, nearest = 0, least = -1;

	for (int days = -1; days <= 1; days++) {
		double at = date_after(begin, days, clock);
		double outside = at < begin ? begin - at : at > end ? at - end : 0;

		if (least < 0 || outside < least) {
			least = outside;
			nearest = at;
		}
	}
	return nearest;
}

int moment_resolve(const struct moment *m, const struct moment_span *of, uint64_t *ret_ns)
{
	double at = m->seconds; /* seconds after the beginning */

	if (m->kind == MOMENT_BEFORE_END) {
		at = (of->end_ns - of->begin_ns) / NS_PER_S - m->seconds;
	} else if (m->kind == MOMENT_CLOCK || m->kind == MOMENT_DATE) {
		if (!of->wall_ns)
			return -ENODATA;
		at = m->kind == MOMENT_CLOCK ? date_of_clock(m->seconds, of) : m->seconds;
		at -= of->wall_ns / NS_PER_S;
	}
	at = of->begin_ns + at * NS_PER_S;
	*ret_ns = at > 0 ? (uint64_t)at : 0;
	return 0;
}
