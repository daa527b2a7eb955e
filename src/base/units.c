// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_count(struct buf *b, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_putc(b, ',');
		buf_putc(b, digits[i]);
	}
}

uint64_t count_of_real(double v)
{
	if (!(v > 0))
		return 0;
	return v < 18446744073709549568.0 ? (uint64_t)v : UINT64_MAX;
}

void put_rate(struct buf *b, double per_s)
{
	if (per_s > 0 && per_s < 9.95)
		buf_printf(b, "%.1f", per_s);
	else
		put_count(b, count_of_real(per_s + 0.5));
}

/* Three significant digits of v in the last of the units that keeps it at or above 1. */
static void put_scaled(struct buf *b, double v, double step, const char *const *unit, int n)
{
	int i = 0;

	while (i < n - 1 && v >= step * 0.9995)
		v /= step, i++;
	if (v >= 99.95 || v == 0 || (i == 0 && v == floor(v)))
		buf_printf(b, "%.0f %s", v, unit[i]);
	else if (v >= 9.995)
		buf_printf(b, "%.1f %s", v, unit[i]);
	else
		buf_printf(b, "%.2f %s", v, unit[i]);
}

void put_bytes(struct buf *b, uint64_t bytes)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	put_scaled(b, bytes, 1024, unit, 7);
}

void put_duration(struct buf *b, uint64_t ns)
{
	static const char *const unit[] = {"ns", "us", "ms", "s"};

	put_scaled(b, ns, 1000, unit, 4);
}

void put_span(struct buf *b, double seconds)
{
	uint64_t s = count_of_real(seconds + 0.5);

	if (seconds < 9.95)
		buf_printf(b, "%.1f s", seconds > 0 ? seconds : 0);
	else if (s < 120)
		buf_printf(b, "%" PRIu64 " s", s);
	else if (s < 7200)
		buf_printf(b, "%" PRIu64 "m %02" PRIu64 "s", s / 60, s % 60);
	else if (s < 172800)
		buf_printf(b, "%" PRIu64 "h %02" PRIu64 "m", s / 3600, s / 60 % 60);
	else
		buf_printf(b, "%" PRIu64 "d %02" PRIu64 "h", s / 86400, s / 3600 % 24);
}

void put_limit(struct buf *b, uint64_t limit)
{
	if (limit == UINT64_MAX)
		buf_puts(b, "unlimited");
	else
		put_count(b, limit);
}

#define KERNEL_ENOTSUPP 524 /* include/linux/errno.h: not for user space, but it gets out */

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

/* At least `least`. */
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
