// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/settings.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/io.h"
#include "probe/host_facts.h"
#include "probe/limits.h"
#include "probe/permission.h"

enum from {
	FROM_LIMITS,
	FROM_FILE,
	FROM_SOFT,
	FROM_HARD,
	FROM_SWAP_USED,
	FROM_THREADS,
	FROM_LATER /* the value is set by another function */
};

struct row {
	const char *key, *name;
	enum setting_unit unit;
	const char *of;
	enum from from;
	size_t at;	  /* offset in struct host_limits, or resource of an rlimit */
	const char *path; /* path of the file to read */
};

#define LIMITS(member) FROM_LIMITS, offsetof(struct host_limits, member), NULL
#define SYSCTL(path)   FROM_FILE, 0, "/proc/sys/" path
#define SOFT(resource) FROM_SOFT, resource, NULL
#define HARD(resource) FROM_HARD, resource, NULL
#define SWAP_USED      FROM_SWAP_USED, 0, NULL
#define THREADS	       FROM_THREADS, 0, NULL
#define LATER	       FROM_LATER, 0, NULL

static const struct row rows[] = {
#define SETTING(key, name, unit, of, ...) {key, name, SETTING_##unit, of, __VA_ARGS__},
#include "probe/settings.def"
#undef SETTING
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(NR_ROWS <= SETTINGS_MAX, "room for every row");

static void set(struct setting *s, int64_t value)
{
	s->known = true;
	s->value = value;
}

static void read_file(struct setting *s, const char *path)
{
	char text[64];

	if (io_read(AT_FDCWD, path, text, sizeof(text)) > 0)
		set(s, strtoll(text, NULL, 10));
}

static void read_rlimit(struct setting *s, int resource, bool hard)
{
	struct rlimit r;

	if (getrlimit(resource, &r))
		return;
	s->unlimited = (hard ? r.rlim_max : r.rlim_cur) == RLIM_INFINITY;
	set(s, s->unlimited ? 0 : hard ? r.rlim_max : r.rlim_cur);
}

/*
 * Sets a value from struct host_limits. The value 0 means that the file was unreadable, except for
 * limits that can be 0.
 */
static void take_limit(struct setting *s, const struct host_limits *l, size_t at)
{
	uint64_t value = *(const uint64_t *)((const char *)l + at);

	if (value || at == offsetof(struct host_limits, swap_total_bytes) ||
	    at == offsetof(struct host_limits, overcommit_memory))
		set(s, value);
}

static void read_row(struct setting *s, const struct row *r, const struct host_limits *l)
{
	*s = (struct setting){.key = r->key, .name = r->name, .unit = r->unit, .of = r->of};
	switch (r->from) {
	case FROM_LIMITS:
		take_limit(s, l, r->at);
		break;
	case FROM_FILE:
		read_file(s, r->path);
		break;
	case FROM_SOFT:
	case FROM_HARD:
		read_rlimit(s, r->at, r->from == FROM_HARD);
		break;
	case FROM_SWAP_USED:
		set(s, l->swap_total_bytes - l->swap_free_bytes);
		break;
	case FROM_THREADS:
		if (host_processes())
			set(s, host_processes());
		break;
	case FROM_LATER:
		break;
	}
}

size_t settings_read(struct setting *ret)
{
	struct limits files;
	struct host_limits l;
	struct setting *s;

	limits_open(&files);
	limits_read(&files, &l);
	limits_close(&files);
	for (size_t i = 0; i < NR_ROWS; i++)
		read_row(&ret[i], &rows[i], &l);
	s = (struct setting *)setting_find(ret, NR_ROWS, "lockdown");
	permission_lockdown(s->text, sizeof(s->text));
	s->known = s->text[0];
	return NR_ROWS;
}
