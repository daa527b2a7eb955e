// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/overhead.h"

#include <stdio.h>
#include <string.h>

static const char *const names[NR_OVERHEAD_LEVELS] = {"scan", "events", "latency", "syscalls"};

const char *overhead_level_name(unsigned int level)
{
	return level < NR_OVERHEAD_LEVELS ? names[level] : "unknown";
}

int overhead_level_find(const char *word)
{
	for (int i = 0; i < NR_OVERHEAD_LEVELS; i++)
		if (!strcmp(names[i], word) || (word[0] == '0' + i && !word[1]))
			return i;
	return -1;
}

const char *overhead_levels_text(unsigned int levels, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < NR_OVERHEAD_LEVELS && len < size; i++)
		if (levels >> i & 1)
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "", names[i]);
	return buf;
}
