// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "serve/rate_limit.h"

#include <ctype.h>
#include <string.h>

/* Units of a duration. "ms" must come before "m", because the first match is used. */
static const struct {
	const char *name;
	double ns;
} units[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9},
};
#define NR_UNITS (sizeof(units) / sizeof(units[0]))

/*
 * Parses a number and the unit that follows. strtod() would also accept hexadecimal numbers and
 * "inf".
 */
static bool read_part(const char **text, double *ret_ns)
{
	const char *p = *text;
	double n = 0, place = 1;
	bool digits = false;

	for (; isdigit((unsigned char)*p); p++, digits = true)
		n = n * 10 + *p - '0';
	for (p += *p == '.'; isdigit((unsigned char)*p); p++, digits = true)
		n += (*p - '0') * (place /= 10);
	for (size_t i = 0; digits && i < NR_UNITS; i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(p, units[i].name, len))
			continue;
		*text = p + len;
		*ret_ns = n * units[i].ns;
		return true;
	}
	return false;
}

bool rate_interval_read(const char *text, uint64_t *ret_ns)
{
	double sum = 0, part;

	if (!strcmp(text, "0")) {
		*ret_ns = 0;
		return true;
	}
	do {
		if (!read_part(&text, &part))
			return false;
		sum += part;
	} while (*text);
	if (sum > RATE_INTERVAL_MAX_NS)
		return false;
	*ret_ns = sum;
	return true;
}

bool rate_limit_take(struct rate_limit *r, uint64_t now_ns)
{
	uint64_t from = r->full_ns > now_ns ? r->full_ns : now_ns;

	if (!r->interval_ns)
		return true;
	if (from - now_ns > (r->burst - 1) * r->interval_ns)
		return false;
	r->full_ns = from + r->interval_ns;
	return true;
}
