// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/overhead.h"

#include <stdio.h>
#include <string.h>

#define LEVEL_SYSCALLS 3
#define COUNTED_CALLS  "system calls that change mappings or fds"

static const struct {
	const char *name;
	/* events of any process at which probes of the level run; NULL: none */
	const char *runs_at;
	/* what only this level measures; NULL: nothing that users can choose */
	const char *measures;
} levels_of[NR_OVERHEAD_LEVELS] = {
	{"scan", NULL, "periodic values"},
	{"events", "page faults, new mappings, signals", "kinds of page faults, and events"},
	{"latency", "waits for locks and disks", "latency of page faults"},
	{"syscalls", "all system calls", "failed calls and calls by kind"},
	{"pages", "page faults", NULL},
};

const char *overhead_level_name(unsigned int level)
{
	return level < NR_OVERHEAD_LEVELS ? levels_of[level].name : "unknown";
}

int overhead_level_find(const char *word)
{
	for (int i = 0; i < NR_OVERHEAD_OPTIONS; i++)
		if (!strcmp(levels_of[i].name, word) || (word[0] == '0' + i && !word[1]))
			return i;
	return -1;
}

unsigned int overhead_set_find(const char *word)
{
	if (!strcmp(word, "low"))
		return OVERHEAD_LOW;
	return !strcmp(word, "all") ? OVERHEAD_ALL : 0;
}

/*
 * Writes a text of each level in `levels`, which `part` selects, with `between` between two texts.
 * Levels whose text is NULL are left out. Returns buf.
 */
static const char *join(unsigned int levels, const char *(*part)(int level), const char *between,
			char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < NR_OVERHEAD_LEVELS && len < size; i++)
		if (levels >> i & 1 && part(i))
			len += snprintf(buf + len, size - len, "%s%s", len ? between : "", part(i));
	return buf;
}

static const char *name_of(int level)
{
	return levels_of[level].name;
}

static const char *events_of(int level)
{
	return levels_of[level].runs_at;
}

static const char *measured_by(int level)
{
	return levels_of[level].measures;
}

/* The same, if only some system calls run a program. */
static const char *few_events_of(int level)
{
	return level == LEVEL_SYSCALLS ? COUNTED_CALLS : events_of(level);
}

const char *overhead_for_others_text(unsigned int levels, bool spares_calls, char *buf, size_t size)
{
	return join(levels, spares_calls ? few_events_of : events_of, ", ", buf, size);
}

const char *overhead_unmeasured_text(unsigned int levels, char *buf, size_t size)
{
	return join(~levels, measured_by, "; ", buf, size);
}

const char *overhead_levels_text(unsigned int levels, char *buf, size_t size)
{
	return join(levels, name_of, ", ", buf, size);
}
