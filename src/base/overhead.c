// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/overhead.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	/* what only this level measures; NULL: nothing that users can choose */
	const char *measures;
} levels_of[NR_OVERHEAD_LEVELS] = {
	{"scan", "periodic values"},
	{"events", "kinds of page faults, and events"},
	{"latency", "latency of page faults"},
	{"syscalls", "failed calls and calls by kind"},
	{"pages", NULL},
};

/* texts of the AT_* bits */
static const char *const events[] = {
	"page faults",	    "new mappings",
	"signals",	    "waits for locks",
	"all system calls", "system calls that change mappings or fds",
	"switches between processes",
};

/* events at which probes run in all processes; attach types decide about calls and switches */
static const struct {
	const char *probe;
	unsigned int events;
} probes[] = {
	{"fault_begin", AT_FAULTS}, {"fault_kernel", AT_FAULTS}, {"fault_end", AT_FAULTS},
	{"resident", AT_FAULTS},    {"map_area", AT_MAPPINGS},	 {"signal", AT_SIGNALS},
	{"mmap_lock", AT_LOCKS},    {"calls", AT_CALLS},
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

static const char *measured_by(int level)
{
	return levels_of[level].measures;
}

unsigned int overhead_events_of(const char *probe, bool few_calls, bool switches)
{
	unsigned int at = switches ? AT_SWITCHES : 0;

	if (few_calls)
		return at | AT_FEW_CALLS;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strcmp(probes[i].probe, probe))
			at |= probes[i].events;
	return at;
}

const char *overhead_for_others_text(unsigned int at, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && len < size; i++)
		if (at >> i & 1)
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "", events[i]);
	return buf;
}

const char *overhead_unmeasured_text(unsigned int levels, char *buf, size_t size)
{
	return join(~levels, measured_by, "; ", buf, size);
}

const char *overhead_levels_text(unsigned int levels, char *buf, size_t size)
{
	return join(levels, name_of, ", ", buf, size);
}
