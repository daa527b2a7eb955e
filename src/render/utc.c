// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/utc.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct number_text as_utc_of_seconds(int64_t seconds)
{
	time_t when = seconds;
	struct number_text t;
	struct tm tm;

	if (!gmtime_r(&when, &tm) || !strftime(t.s, sizeof(t.s), "%Y-%m-%dT%H:%M:%SZ", &tm))
		strcpy(t.s, "-");
	return t;
}

struct number_text as_utc(uint64_t wall_ns)
{
	return wall_ns ? as_utc_of_seconds(wall_ns / 1000000000) : (struct number_text){"-"};
}

struct number_text as_utc_ms(uint64_t wall_ns)
{
	struct number_text t = as_utc(wall_ns);
	size_t len = strlen(t.s);

	if (len > 1)
		snprintf(t.s + len - 1, sizeof(t.s) - len + 1, ".%03uZ",
			 (unsigned int)(wall_ns / 1000000 % 1000));
	return t;
}
