// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/limits/origin_cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/cgroup/cgroup_tree.h"
#include "collect/limits/origin_unit.h"

#define NO_LIMIT_V1 (1ULL << 60) /* cgroup v1: larger values mean "no limit" */

/* Returns whether a task limit is `percent` of the machine's maximum, rounded as by systemd. */
static bool is_share(struct files *f, uint64_t value, unsigned int percent)
{
	static const char *const paths[] = {"/proc/sys/kernel/pid_max",
					    "/proc/sys/kernel/threads-max"};
	uint64_t all;

	for (int i = 0; i < 2; i++)
		if (!file_number(f, paths[i], &all) && value >= all * percent / 100 - 1 &&
		    value <= all * percent / 100 + 1)
			return true;
	return false;
}

static bool is_line(struct files *f, const struct origin_line *line, uint64_t value)
{
	struct span text = {line->value, strlen(line->value)};
	uint64_t said;

	if (text.len && text.s[text.len - 1] == '%')
		return is_share(f, value, strtoul(line->value, NULL, 10));
	/* the kernel rounds a memory limit down to whole pages */
	return !text_number(text, &said) && (said == value || (said & ~4095ULL) == value);
}

/* Finds the line that sets the limit of a cgroup that is a systemd slice, service or scope. */
static bool judge_unit(struct files *f, struct origin *o)
{
	struct workload *w = &o->at_holder;
	const char *name = strrchr(o->dir, '/');
	struct origin_line line;

	name = name ? name + 1 : o->dir;
	if (w->unit_inside || !o->limit->unit_key ||
	    !(is_unit(name, "slice") || is_unit(name, "service") || is_unit(name, "scope")))
		return false;
	if (strlen(name) >= sizeof(w->unit))
		return false;
	strcpy(w->unit, name);
	o->from = ORIGIN_FILE;
	if (unit_find(f, w, name, o->limit->unit_key, &o->line))
		return is_line(f, &o->line, o->value);
	/* MemoryMax= was called MemoryLimit= before systemd 231 */
	if (o->limit == &limit_table[LIMIT_CGROUP_MEMORY] &&
	    unit_find(f, w, name, "MemoryLimit", &o->line))
		return is_line(f, &o->line, o->value);
	if (!o->limit->manager_key || is_unit(name, "slice"))
		return false;
	if (unit_find_default(f, w, o->limit->manager_key, &line) && is_line(f, &line, o->value)) {
		o->line = line;
		return true;
	}
	o->from = ORIGIN_MANAGER;
	return is_share(f, o->value, 15); /* systemd's DefaultTasksMax=15% since 228 */
}

/*
 * Returns whether a container runtime created a cgroup. This is true for the cgroup of a container
 * or pod itself, and false for cgroups below it.
 */
static bool is_runtimes(const char *dir)
{
	const char *name = strrchr(dir, '/');
	struct workload w, above;
	char parent[sizeof(((struct origin *)0)->dir)];

	if (!name || !name[1])
		return false;
	snprintf(parent, sizeof(parent), "%.*s", (int)(name - dir), dir);
	workload_of(dir, &w);
	workload_of(parent, &above);
	return strcmp(w.container, above.container) || strcmp(w.pod, above.pod);
}

static void judge(struct files *f, const struct cgroup_tree *t, struct origin *o)
{
	const char *below = o->dir + strlen(t->mount.point);

	workload_of(below, &o->at_holder);
	if (is_runtimes(below))
		o->from = ORIGIN_RUNTIME;
	else if (o->outside && !*below)
		o->from = ORIGIN_OUTSIDE;
	else if (!judge_unit(f, o))
		o->from = ORIGIN_HAND;
}

static void take_level(const struct cgroup_level *l, struct origin *o)
{
	o->value = l->max;
	o->used = l->used;
	o->levels = l->up;
	memcpy(o->dir, l->dir, sizeof(o->dir));
	memcpy(o->file, l->file, sizeof(o->file));
}

_Static_assert(sizeof(((struct origin *)0)->dir) == sizeof(((struct cgroup_level *)0)->dir) &&
		       sizeof(((struct origin *)0)->file) ==
			       sizeof(((struct cgroup_level *)0)->file),
	       "copied whole");

/*
 * Reads the swap limit. cgroup v1 only has a limit of memory plus swap. If that limit equals the
 * memory limit, no swap is allowed.
 */
static void read_swap(struct files *f, const struct cgroup_tree *t, struct origin *o)
{
	char path[sizeof(o->dir) + 32];
	uint64_t n;

	snprintf(path, sizeof(path), "%s/%s", o->dir,
		 t->mount.v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max");
	if (o->limit != &limit_table[LIMIT_CGROUP_MEMORY] || file_number(f, path, &n))
		return;
	o->swap_known = true;
	if (!t->mount.v1)
		o->swap = n;
	else if (n >= NO_LIMIT_V1)
		o->swap = LIMIT_NONE;
	else
		o->swap = n > o->value ? n - o->value : 0;
}

void origin_of_cgroup(struct files *f, const struct origin_of *of, struct origin *o)
{
	struct cgroup_level level;
	char dir[FILE_PATH_BYTES];
	struct cgroup_tree tree;

	if (!cgroup_tree_open(f, o->limit->controller, &tree) ||
	    !cgroup_tree_dir(&tree, of->at_cgroup ? 0 : of->pid, of->cgroup, dir, sizeof(dir)))
		return;
	o->value = LIMIT_NONE;
	o->known = cgroup_tree_has(&tree, dir, o->limit);
	o->from = o->known ? ORIGIN_NOBODY : ORIGIN_UNKNOWN;
	if (of->at_cgroup)
		cgroup_tree_level(&tree, dir, o->limit, &level);
	else
		cgroup_tree_find(&tree, dir, o->limit, &level);
	if (!level.binds)
		return;
	take_level(&level, o);
	read_swap(f, &tree, o);
	judge(f, &tree, o);
}
