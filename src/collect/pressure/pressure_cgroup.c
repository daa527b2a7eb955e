// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/pressure/pressure_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "collect/cgroup/cgroup_walk.h"
#include "probe/host_facts.h"

#define DEPTH_MOST  8
#define DIRS_MOST   1024 /* maximum number of cgroups searched for limits */
#define NO_LIMIT_V1 (1ULL << 60)
#define CHAINS_MOST 32 /* maximum number of processes whose cgroups are searched */

static uint64_t limit_in(int dir, const char *name, bool v1)
{
	char text[32];
	uint64_t n;

	if (io_read(dir, name, text, sizeof(text)) <= 0 || !strncmp(text, "max", 3))
		return FIGURE_UNKNOWN;
	n = strtoull(text, NULL, 10);
	return v1 && n >= NO_LIMIT_V1 ? FIGURE_UNKNOWN : n;
}

static bool is_limited(int dir, bool v1)
{
	if (v1)
		return limit_in(dir, "memory.limit_in_bytes", true) != FIGURE_UNKNOWN;
	return limit_in(dir, "memory.max", false) != FIGURE_UNKNOWN ||
	       limit_in(dir, "memory.high", false) != FIGURE_UNKNOWN;
}

static void add_level(struct pressure_reader *r, const char *path)
{
	if (!r->level)
		r->level = calloc(LEVELS_MAX, sizeof(*r->level));
	for (size_t i = 0; r->level && i < r->levels; i++)
		if (!strcmp(r->level[i], path))
			return;
	if (r->level && r->levels < LEVELS_MAX && strlen(path) < sizeof(*r->level))
		strcpy(r->level[r->levels++], path);
	else
		r->over++;
}

/* Opens the cgroup "/a/b" below r->root. The path "/" is r->root itself. */
static int open_level(const struct pressure_reader *r, const char *path)
{
	return openat(r->root, path[1] ? path + 1 : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void take_limited(void *ctx, int dir, const char *path)
{
	struct pressure_reader *r = ctx;

	if (is_limited(dir, r->hierarchy.v1))
		add_level(r, path);
}

/* Lists the cgroup of a process and its visible ancestors, if they have limits. */
static void list_chain(struct pressure_reader *r, uint32_t pid)
{
	const char *root = r->hierarchy.root;
	char name[48], text[4096], path[256];
	size_t len = strlen(root);
	struct span span;
	int dir;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", pid);
	if (io_read(AT_FDCWD, name, text, sizeof(text)) < 0)
		return;
	span = (struct span){text, strlen(text)};
	if (!cgroup_path_find(span, r->hierarchy.v1 ? "memory" : NULL, path, sizeof(path)))
		return;
	if (len > 1 && !strncmp(path, root, len) && (path[len] == '/' || !path[len]))
		memmove(path, path + len, strlen(path + len) + 1);
	else if (!strncmp(path, "/..", 3))
		path[0] = 0;
	for (;;) {
		char *slash = strrchr(path, '/');

		dir = open_level(r, path[0] ? path : "/");
		if (dir >= 0 && is_limited(dir, r->hierarchy.v1))
			add_level(r, path[0] ? path : "/");
		if (dir >= 0)
			close(dir);
		if (!slash)
			return;
		*slash = 0;
	}
}

static void list_chains(struct pressure_reader *r, const struct model *m)
{
	unsigned int asked = 0;

	for (struct subject *s = model_each(m, NULL); s && asked < CHAINS_MOST;
	     s = model_each(m, s), asked++)
		if (!s->final)
			list_chain(r, s->id.pid);
}

void pressure_list_cgroups(struct pressure_reader *r, const struct model *m)
{
	struct cgroup_walk w = {
		.take = take_limited, .ctx = r, .dirs_most = DIRS_MOST, .depth_most = DEPTH_MOST};
	int dir;

	r->levels = 0;
	if (r->root < 0)
		return;
	if (r->targets) {
		if (!host_is_in_pid_namespace())
			list_chains(r, m);
		return;
	}
	dir = openat(r->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		cgroup_walk(&w, dir);
	r->over += w.over;
}

struct keyed {
	const char *key;
	enum cgroup_figure figure;
};

/* Reads lines "KEY VALUE", and adds up the values of keys that belong to one metric. */
static void take_keyed(int dir, const char *file, const struct keyed *k, size_t n, uint64_t *ret)
{
	char text[8192];
	uint64_t value;

	if (io_read(dir, file, text, sizeof(text)) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!pressure_keyed(text, k[i].key, &value))
			continue;
		if (ret[k[i].figure] == FIGURE_UNKNOWN)
			ret[k[i].figure] = 0;
		ret[k[i].figure] += value;
	}
}

#define TAKE_KEYED(dir, file, k, ret) take_keyed(dir, file, k, sizeof(k) / sizeof((k)[0]), ret)

static void read_v2(int dir, struct cgroup_record *c)
{
	static const struct keyed events[] = {{"high", CGROUP_TIMES_HIGH},
					      {"max", CGROUP_TIMES_MAX},
					      {"oom", CGROUP_OOMS},
					      {"oom_kill", CGROUP_OOM_KILLS}};
	static const struct keyed stat[] = {
		{"anon", CGROUP_ANON},
		{"file", CGROUP_FILE},
		{"shmem", CGROUP_SHMEM},
		{"kernel_stack", CGROUP_KERNEL},
		{"pagetables", CGROUP_KERNEL},
		{"slab_unreclaimable", CGROUP_KERNEL},
		{"workingset_refault_anon", CGROUP_REFAULT_ANON},
		{"workingset_refault_file", CGROUP_REFAULT_FILE},
		{"pgmajfault", CGROUP_MAJOR},
	};
	char text[512];

	io_read_number(dir, "memory.current", &c->n[CGROUP_USED]);
	c->n[CGROUP_LIMIT] = limit_in(dir, "memory.max", false);
	c->n[CGROUP_HIGH] = limit_in(dir, "memory.high", false);
	io_read_number(dir, "memory.swap.current", &c->n[CGROUP_SWAP_USED]);
	c->n[CGROUP_SWAP_LIMIT] = limit_in(dir, "memory.swap.max", false);
	TAKE_KEYED(dir, "memory.events", events, c->n);
	TAKE_KEYED(dir, "memory.stat", stat, c->n);
	if (io_read(dir, "memory.pressure", text, sizeof(text)) >= 0)
		pressure_stalls(text, &c->some, &c->full);
}

static void read_v1(int dir, struct cgroup_record *c)
{
	static const struct keyed stat[] = {
		{"total_rss", CGROUP_ANON},
		{"total_cache", CGROUP_FILE},
		{"total_shmem", CGROUP_SHMEM},
		{"total_swap", CGROUP_SWAP_USED},
		{"total_workingset_refault_anon", CGROUP_REFAULT_ANON},
		{"total_workingset_refault_file", CGROUP_REFAULT_FILE},
		{"total_pgmajfault", CGROUP_MAJOR},
	};
	static const struct keyed control[] = {{"oom_kill", CGROUP_OOM_KILLS}};
	uint64_t both = limit_in(dir, "memory.memsw.limit_in_bytes", true);

	io_read_number(dir, "memory.usage_in_bytes", &c->n[CGROUP_USED]);
	c->n[CGROUP_LIMIT] = limit_in(dir, "memory.limit_in_bytes", true);
	if (both != FIGURE_UNKNOWN && c->n[CGROUP_LIMIT] != FIGURE_UNKNOWN)
		c->n[CGROUP_SWAP_LIMIT] = both > c->n[CGROUP_LIMIT] ? both - c->n[CGROUP_LIMIT] : 0;
	io_read_number(dir, "memory.failcnt", &c->n[CGROUP_TIMES_MAX]);
	TAKE_KEYED(dir, "memory.stat", stat, c->n);
	TAKE_KEYED(dir, "memory.oom_control", control, c->n);
}

int pressure_scan_cgroups(struct pressure_reader *r, const struct model *m, const struct sink *sink)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->levels; i++) {
		struct cgroup_record c = {.h = {RECORD_LEVEL, sizeof(c), host_monotonic_ns()},
					  .version = r->hierarchy.v1 ? 1 : 2};
		int dir = open_level(r, r->level[i]);

		if (dir < 0)
			continue; /* the cgroup was removed */
		memcpy(c.path, r->level[i], sizeof(c.path));
		memset(c.n, 0xff, sizeof(c.n)); /* sets all values to FIGURE_UNKNOWN */
		if (r->hierarchy.v1)
			read_v1(dir, &c);
		else
			read_v2(dir, &c);
		close(dir);
		err = sink->take(sink->ctx, &c.h);
	}
	return err;
}
