// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "probe/settings.h"

#include <fcntl.h>
#include <stdio.h>
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
	FROM_LATER /* by who looks it up */
};

struct row {
	const char *key, *name;
	enum setting_unit unit;
	const char *of;
	enum from from;
	size_t at;	  /* in struct host_limits; the resource of an rlimit */
	const char *path; /* of a file */
};

#define LIMITS(member) FROM_LIMITS, offsetof(struct host_limits, member), NULL
#define SYSCTL(path)   FROM_FILE, 0, "/proc/sys/" path
#define COUNT	       SETTING_COUNT
#define BYTES	       SETTING_BYTES
#define TEXT	       SETTING_TEXT

static const struct row rows[] = {
	{"max_map_count", "vm.max_map_count", COUNT, NULL, LIMITS(max_map_count)},
	{"file_max", "fs.file-max", COUNT, NULL, LIMITS(file_max)},
	{"file_nr", "in use", COUNT, "file_max", LIMITS(file_nr)},
	{"nr_open", "fs.nr_open", COUNT, NULL, LIMITS(nr_open)},
	{"rlimit_nofile", "RLIMIT_NOFILE, soft", COUNT, NULL, FROM_SOFT, RLIMIT_NOFILE, NULL},
	{"rlimit_nofile_hard", "RLIMIT_NOFILE, hard", COUNT, NULL, FROM_HARD, RLIMIT_NOFILE, NULL},
	{"rlimit_memlock_bytes", "RLIMIT_MEMLOCK, soft", BYTES, NULL, FROM_SOFT, RLIMIT_MEMLOCK,
	 NULL},
	{"rlimit_memlock_hard_bytes", "RLIMIT_MEMLOCK, hard", BYTES, NULL, FROM_HARD,
	 RLIMIT_MEMLOCK, NULL},
	{"overcommit_memory", "vm.overcommit_memory", COUNT, NULL, LIMITS(overcommit_memory)},
	{"commit_limit_bytes", "CommitLimit", BYTES, NULL, LIMITS(commit_limit_bytes)},
	{"committed_bytes", "committed", BYTES, "commit_limit_bytes", LIMITS(committed_bytes)},
	{"mem_total_bytes", "memory", BYTES, NULL, LIMITS(mem_total_bytes)},
	{"swap_total_bytes", "swap", BYTES, NULL, LIMITS(swap_total_bytes)},
	{"swap_used_bytes", "used", BYTES, "swap_total_bytes", FROM_SWAP_USED, 0, NULL},
	{"inotify_instances", "fs.inotify.max_user_instances", COUNT, NULL,
	 LIMITS(inotify_instances)},
	{"inotify_watches", "fs.inotify.max_user_watches", COUNT, NULL,
	 SYSCTL("fs/inotify/max_user_watches")},
	{"inotify_queued_events", "fs.inotify.max_queued_events", COUNT, NULL,
	 SYSCTL("fs/inotify/max_queued_events")},
	{"pid_max", "kernel.pid_max", COUNT, NULL, SYSCTL("kernel/pid_max")},
	{"threads_max", "kernel.threads-max", COUNT, NULL, SYSCTL("kernel/threads-max")},
	{"threads", "alive", COUNT, "threads_max", FROM_THREADS, 0, NULL},
	{"cgroup", "cgroup", TEXT, NULL, FROM_LATER, 0, NULL},
	{"cgroup_memory_max_bytes", "cgroup memory limit", BYTES, NULL, FROM_LATER, 0, NULL},
	{"cgroup_memory_bytes", "used", BYTES, "cgroup_memory_max_bytes", FROM_LATER, 0, NULL},
	{"cgroup_pids_max", "cgroup pids limit", COUNT, NULL, FROM_LATER, 0, NULL},
	{"cgroup_pids", "alive", COUNT, "cgroup_pids_max", FROM_LATER, 0, NULL},
	{"unprivileged_bpf_disabled", "kernel.unprivileged_bpf_disabled", COUNT, NULL,
	 SYSCTL("kernel/unprivileged_bpf_disabled")},
	{"perf_event_paranoid", "kernel.perf_event_paranoid", COUNT, NULL,
	 SYSCTL("kernel/perf_event_paranoid")},
	{"kptr_restrict", "kernel.kptr_restrict", COUNT, NULL, SYSCTL("kernel/kptr_restrict")},
	{"lockdown", "lockdown", TEXT, NULL, FROM_LATER, 0, NULL},
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

/* What cannot be read is 0 there; of these only some can truly be. */
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
