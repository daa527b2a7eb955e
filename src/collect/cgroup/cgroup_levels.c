// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/cgroup/cgroup_levels.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * The cgroup with the least room below its limit, as read in this scan. The candidates are a
 * process's cgroup and its ancestors.
 */
struct reading {
	const struct cgroup_tree *tree;
	char dir[FILE_PATH_BYTES];
	struct level_room level;
};

struct readings {
	struct reading r[LEVELS_GROUPS];
	size_t n;
};

bool cgroup_levels_open(struct cgroup_levels *l)
{
	memset(l, 0, sizeof(*l));
	l->files.root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (l->files.root < 0)
		return false;
	l->has_memory = cgroup_tree_open(&l->files, "memory", &l->memory);
	l->has_pids = cgroup_tree_open(&l->files, "pids", &l->pids);
	l->memory.firm = true;
	if (l->has_memory || l->has_pids)
		return true;
	cgroup_levels_close(l);
	return false;
}

void cgroup_levels_close(struct cgroup_levels *l)
{
	close(l->files.root);
}

static struct reading *find(struct readings *all, const struct cgroup_tree *t, const char *dir)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->r[i].tree == t && !strcmp(all->r[i].dir, dir))
			return &all->r[i];
	return NULL;
}

static void read_level(const struct cgroup_tree *t, const char *dir, const struct limit *limit,
		       struct level_room *ret)
{
	char up[FILE_PATH_BYTES];
	struct cgroup_level level;

	strcpy(up, dir);
	cgroup_tree_find(t, up, limit, &level);
	*ret = (struct level_room){.limit = UINT64_MAX};
	if (level.binds)
		*ret = (struct level_room){
			.used = level.used, .limit = level.max, .up = level.up, .known = 1};
}

static void level_of(struct readings *all, const struct cgroup_tree *t, uint32_t pid,
		     enum limit_id limit, struct level_room *ret)
{
	char dir[FILE_PATH_BYTES];
	struct reading *r;

	*ret = (struct level_room){.limit = UINT64_MAX};
	if (!cgroup_tree_dir(t, pid, NULL, dir, sizeof(dir)))
		return;
	r = find(all, t, dir);
	if (r) {
		*ret = r->level;
		return;
	}
	read_level(t, dir, &limit_table[limit], ret);
	if (all->n == LEVELS_GROUPS)
		return;
	r = &all->r[all->n++];
	r->tree = t;
	strcpy(r->dir, dir);
	r->level = *ret;
}

/* Returns whether a record has other levels than the model. Other records need not be sent. */
static bool is_news(const struct subject *s, const struct levels_record *r)
{
	return memcmp(&s->memory, &r->memory, sizeof(r->memory)) ||
	       memcmp(&s->pids, &r->pids, sizeof(r->pids));
}

int cgroup_levels_read(struct cgroup_levels *l, const struct model *m, uint64_t t_ns,
		       const struct sink *sink)
{
	struct levels_record r = {.h = {RECORD_LEVELS, sizeof(r), t_ns}};
	struct readings all = {};
	size_t asked = 0;
	int err = 0;

	for (struct subject *s = model_each(m, NULL); s && !err && asked < LEVELS_PROCESSES;
	     s = model_each(m, s)) {
		if (s->final || s->hidden)
			continue;
		asked++;
		r.subject = s->id;
		r.memory = r.pids = (struct level_room){.limit = UINT64_MAX};
		if (l->has_memory)
			level_of(&all, &l->memory, s->id.pid, LIMIT_CGROUP_MEMORY, &r.memory);
		if (l->has_pids)
			level_of(&all, &l->pids, s->id.pid, LIMIT_CGROUP_PIDS, &r.pids);
		if (is_news(s, &r))
			err = sink->take(sink->ctx, &r.h);
	}
	return err;
}
