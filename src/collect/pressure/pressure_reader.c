// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/pressure/pressure_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pressure_keyed(const char *text, const char *key, uint64_t *ret)
{
	size_t len = strlen(key);

	for (const char *at = text; *at; at = strchrnul(at, '\n'), at += *at == '\n') {
		if (strncmp(at, key, len) || at[len] != ' ')
			continue;
		*ret = strtoull(at + len, NULL, 10);
		return true;
	}
	return false;
}

/* Parses a line of a PSI file: "some avg10=0.00 avg60=0.00 avg300=0.00 total=256447" */
static void read_stall(const char *text, const char *which, struct stall *ret)
{
	const char *at = strstr(text, which);
	double avg10, avg60, avg300;
	uint64_t total;

	if (!at || sscanf(at + strlen(which), " avg10=%lf avg60=%lf avg300=%lf total=%" SCNu64,
			  &avg10, &avg60, &avg300, &total) != 4)
		return;
	*ret = (struct stall){total, avg10 * 100 + 0.5, avg60 * 100 + 0.5, avg300 * 100 + 0.5, 1};
}

void pressure_stalls(const char *text, struct stall *some, struct stall *full)
{
	read_stall(text, "some", some);
	read_stall(text, "full", full);
}
