// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/history_levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 512

static void level_free(struct history_level *l)
{
	free(l->path);
	free(l->used);
	free(l->kept);
	memset(l, 0, sizeof(*l));
}

void history_levels_free(struct history_levels *l)
{
	for (size_t i = 0; i < l->n; i++)
		level_free(&l->level[i]);
	free(l->level);
	memset(l, 0, sizeof(*l));
}

static int level_fill(struct history_level *one, const char *path)
{
	size_t n = strnlen(path, PATH_BYTES - 1);

	one->path = calloc(1, PATH_BYTES);
	one->used = calloc(HISTORY_POINTS_MAX, sizeof(*one->used));
	one->kept = calloc(HISTORY_POINTS_MAX, sizeof(*one->kept));
	if (!one->path || !one->used || !one->kept) {
		level_free(one);
		return -ENOMEM;
	}
	memcpy(one->path, path, n);
	one->high = FIGURE_UNKNOWN;
	memset(one->used, 0xff, HISTORY_POINTS_MAX * sizeof(*one->used));
	memset(one->kept, 0xff, HISTORY_POINTS_MAX * sizeof(*one->kept));
	return 0;
}

/*
 * Finds or adds a cgroup. *ret is NULL if there is no room for another one. Returns 0 or -ENOMEM.
 */
static int level_of(struct history_levels *l, const char *path, struct history_level **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->level[i].path, path)) {
			*ret = &l->level[i];
			return 0;
		}
	if (l->n == HISTORY_LEVELS_MAX) {
		l->lost++;
		return 0;
	}
	if (!l->level)
		l->level = calloc(HISTORY_LEVELS_MAX, sizeof(*l->level));
	if (!l->level || level_fill(&l->level[l->n], path))
		return -ENOMEM;
	*ret = &l->level[l->n++];
	return 0;
}

static void raise(uint64_t *to, uint64_t value)
{
	if (value != UINT64_MAX && (*to == UINT64_MAX || value > *to))
		*to = value;
}

int history_levels_scan(struct history_levels *l, const struct model *m, size_t at)
{
	const struct pressure *p = m->pressure;

	for (size_t i = 0; p && i < p->levels; i++) {
		const struct level *from = &p->level[i];
		struct history_level *to;

		bool has_limit = level_has_limit(from);
		uint64_t high = from->now.n[CGROUP_HIGH];

		if (!level_is_there(m, from) || (!has_limit && (high == FIGURE_UNKNOWN || !high)))
			continue;
		if (level_of(l, from->now.path, &to))
			return -ENOMEM;
		if (!to)
			continue;
		to->limit = has_limit ? from->now.n[CGROUP_LIMIT] : high;
		to->high = high;
		raise(&to->used[at], from->now.n[CGROUP_USED]);
		raise(&to->kept[at], level_kept_bytes(from));
	}
	return 0;
}

int history_levels_add(struct history_levels *l, const struct model *m, const struct subject *s,
		       size_t at)
{
	const struct level_room *room = &s->memory;
	char path[PATH_BYTES];
	struct history_level *to;

	/* the last record of a process comes after the kernel freed its memory */
	if (s->final || !room->known || room->limit == UINT64_MAX || !room->limit ||
	    !cgroup_above(s->cgroup, room->up, path, sizeof(path)))
		return 0;
	if (level_of(l, path, &to))
		return -ENOMEM;
	if (to) {
		to->limit = room->limit;
		raise(&to->used[at], room->used);
	}
	return 0;
}

static void halve(uint64_t *value)
{
	const size_t half = HISTORY_POINTS_MAX / 2;

	for (size_t i = 0; i < half; i++) {
		uint64_t first = value[2 * i];

		raise(&first, value[2 * i + 1]);
		value[i] = first;
	}
	memset(value + half, 0xff, half * sizeof(*value));
}

void history_levels_halve(struct history_levels *l)
{
	for (size_t i = 0; i < l->n; i++) {
		halve(l->level[i].used);
		halve(l->level[i].kept);
	}
}
