// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct number_text as_count(uint64_t n)
{
	struct number_text t = {};
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			t.s[at++] = ',';
		t.s[at++] = digits[i];
	}
	return t;
}

struct words_text as_words(uint64_t n, const char *words)
{
	enum { ALWAYS, ONE, MANY } part = ALWAYS;
	struct words_text t = {};

	for (size_t at = 0; *words && at + 1 < sizeof(t.s); words++)
		if (*words == '{')
			part = ONE;
		else if (*words == '|')
			part = MANY;
		else if (*words == '}')
			part = ALWAYS;
		else if (part == ALWAYS || (part == ONE) == (n == 1))
			t.s[at++] = *words;
	return t;
}

uint64_t count_of_real(double v)
{
	if (!(v > 0))
		return 0;
	return v < 18446744073709549568.0 ? (uint64_t)v : UINT64_MAX;
}

struct number_text as_rate(double per_s)
{
	struct number_text t;

	if (!(per_s > 0 && per_s < 9.95))
		return as_count(count_of_real(per_s + 0.5));
	snprintf(t.s, sizeof(t.s), "%.1f", per_s);
	return t;
}

/* Formats v with three significant digits, in the largest unit in which it is at least 1. */
static struct number_text as_scaled(double v, double step, const char *const *unit, int n)
{
	struct number_text t;
	int i = 0, decimals = 2;

	while (i < n - 1 && v >= step * 0.9995)
		v /= step, i++;
	if (v >= 99.95 || v == 0 || (i == 0 && v == floor(v)))
		decimals = 0;
	else if (v >= 9.995)
		decimals = 1;
	snprintf(t.s, sizeof(t.s), "%.*f %s", decimals, v, unit[i]);
	return t;
}

struct number_text as_bytes(uint64_t bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	return as_scaled(bytes, 1024, unit, 7);
}

struct number_text as_duration(uint64_t ns)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};

	return as_scaled(ns, 1000, unit, 4);
}

struct number_text as_span(double seconds)
{
	uint64_t s = count_of_real(seconds + 0.5);
	struct number_text t;

	if (seconds < 9.95)
		snprintf(t.s, sizeof(t.s), "%.1f s", seconds > 0 ? seconds : 0);
	else if (s < 120)
		snprintf(t.s, sizeof(t.s), "%" PRIu64 " s", s);
	else if (s < 7200)
		snprintf(t.s, sizeof(t.s), "%" PRIu64 "m %02" PRIu64 "s", s / 60, s % 60);
	else if (s < 172800)
		snprintf(t.s, sizeof(t.s), "%" PRIu64 "h %02" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(t.s, sizeof(t.s), "%" PRIu64 "d %02" PRIu64 "h", s / 86400, s / 3600 % 24);
	return t;
}

struct number_text as_clock(uint64_t seconds)
{
	struct number_text t;

	snprintf(t.s, sizeof(t.s), "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
		 seconds / 60 % 60, seconds % 60);
	return t;
}

struct number_text as_limit(uint64_t limit)
{
	return limit == UINT64_MAX ? (struct number_text){"unlimited"} : as_count(limit);
}

void put_count(struct buf *b, uint64_t n)
{
	buf_puts(b, as_count(n).s);
}

void put_rate(struct buf *b, double per_s)
{
	buf_puts(b, as_rate(per_s).s);
}

void put_bytes(struct buf *b, uint64_t bytes)
{
	buf_puts(b, as_bytes(bytes).s);
}

void put_duration(struct buf *b, uint64_t ns)
{
	buf_puts(b, as_duration(ns).s);
}

void put_span(struct buf *b, double seconds)
{
	buf_puts(b, as_span(seconds).s);
}

void put_limit(struct buf *b, uint64_t limit)
{
	buf_puts(b, as_limit(limit).s);
}

#define KERNEL_ENOTSUPP 524 /* include/linux/errno.h: kernel-internal, but some calls return it */

const char *errno_name(int error, char *b, size_t size)
{
	const char *name = error == KERNEL_ENOTSUPP ? "ENOTSUPP" : strerrorname_np(error);

	if (name && error)
		return name;
	snprintf(b, size, "errno %d", error);
	return b;
}

const char *signal_name(int signal, char *b, size_t size)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		snprintf(b, size, "SIG%s", name);
	else
		snprintf(b, size, "signal %d", signal);
	return b;
}

#define SECONDS_LEAST 0.01

/* Parses a time of at least `least` seconds. */
static int parse_time(const char *s, double least, double *ret_seconds)
{
	double v, scale = 1;
	char *end;

	errno = 0;
	v = strtod(s, &end);
	if (end == s || errno || !isfinite(v))
		return -EINVAL;
	if (!strcmp(end, "ms"))
		scale = 1e-3;
	else if (!strcmp(end, "m"))
		scale = 60;
	else if (!strcmp(end, "h"))
		scale = 3600;
	else if (*end && strcmp(end, "s"))
		return -EINVAL;
	v *= scale;
	if (v < least || v > 1e8)
		return -ERANGE;
	*ret_seconds = v;
	return 0;
}

int parse_seconds(const char *s, double *ret_seconds)
{
	return parse_time(s, SECONDS_LEAST, ret_seconds);
}

int parse_seconds_or_0(const char *s, double *ret_seconds)
{
	double v;
	int err = parse_time(s, 0, &v);

	if (err || (v > 0 && v < SECONDS_LEAST))
		return err ? err : -ERANGE;
	*ret_seconds = v;
	return 0;
}

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_bytes(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGT";
	char digits[24];
	size_t len = strspn(s, "0123456789");
	const char *unit = s[len] ? strchr(units, s[len]) : NULL;
	unsigned int shift = unit ? 10 * (unit - units + 1) : 0;
	uint64_t n;
	int err;

	if (!len || len >= sizeof(digits) || (s[len] && (!unit || s[len + 1])))
		return -EINVAL;
	snprintf(digits, sizeof(digits), "%.*s", (int)len, s);
	err = parse_u64(digits, 1, (uint64_t)INT64_MAX >> shift, &n);
	if (!err)
		*ret = n << shift;
	return err;
}
