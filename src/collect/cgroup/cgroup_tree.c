// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/cgroup/cgroup_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MOST 64
#define NO_LIMIT_V1 (1ULL << 60) /* cgroup v1: larger values mean "no limit" */

/* mountinfo writes blanks and other special characters as octal numbers. */
static void unescape(struct span s, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len && n + 1 < size; i++) {
		if (s.s[i] == '\\' && i + 3 < s.len) {
			ret[n++] = (s.s[i + 1] & 7) << 6 | (s.s[i + 2] & 7) << 3 | (s.s[i + 3] & 7);
			i += 3;
		} else {
			ret[n++] = s.s[i];
		}
	}
	ret[n] = 0;
}

static bool lists(struct span list, const char *word)
{
	struct span one, rest;

	while (text_split(list, ',', &one, &rest)) {
		if (text_is(one, word))
			return true;
		list = rest;
	}
	return text_is(list, word);
}

/* A line is "ID PARENT DEV ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS". */
static bool scan_mount(struct span line, const char *controller, struct cgroup_mount *ret)
{
	struct span root, point, type;

	for (int i = 0; i < 3; i++)
		text_word(&line);
	root = text_word(&line);
	point = text_word(&line);
	while (line.len && !text_is(text_word(&line), "-"))
		;
	type = text_word(&line);
	text_word(&line);
	if (text_is(type, "cgroup2"))
		ret->v1 = false;
	else if (text_is(type, "cgroup") && (!controller || lists(line, controller)))
		ret->v1 = true;
	else
		return false;
	unescape(root, ret->root, sizeof(ret->root));
	unescape(point, ret->point, sizeof(ret->point));
	return true;
}

bool cgroup_mount_next(struct text_lines *lines, struct cgroup_mount *ret)
{
	struct span line;

	while (text_line(lines, &line))
		if (scan_mount(line, NULL, ret))
			return true;
	return false;
}

bool cgroup_mount_find(struct span mountinfo, const char *controller, struct cgroup_mount *ret)
{
	struct text_lines lines = {.rest = mountinfo};
	struct cgroup_mount one;
	bool found = false;
	struct span line;

	while (text_line(&lines, &line)) {
		if (!scan_mount(line, controller, &one) || (found && !one.v1))
			continue;
		*ret = one;
		found = true;
		if (one.v1)
			break;
	}
	return found;
}

bool cgroup_path_find(struct span text, const char *controller, char *ret, size_t size)
{
	struct text_lines lines = {.rest = text};
	struct span line, id, list, path;

	while (text_line(&lines, &line)) {
		if (!text_split(line, ':', &id, &list) || !text_split(list, ':', &list, &path))
			continue;
		if (controller ? !lists(list, controller) : list.len > 0)
			continue;
		text_copy(path, ret, size);
		return true;
	}
	return false;
}

static void read_page_size(struct cgroup_tree *t)
{
	struct span value, text;
	uint64_t kib = 2048;
	char *s;

	if (!file_read(t->f, "/proc/meminfo", &s, &text.len)) {
		text.s = s;
		if (text_status(text, "Hugepagesize", &value))
			text_number(text_word(&value), &kib);
		free(s);
	}
	if (kib >= 1 << 20)
		snprintf(t->page, sizeof(t->page), "%uGB", (unsigned int)(kib >> 20));
	else if (kib >= 1 << 10)
		snprintf(t->page, sizeof(t->page), "%uMB", (unsigned int)(kib >> 10));
	else
		snprintf(t->page, sizeof(t->page), "%uKB", (unsigned int)kib);
}

/* File names in the limit table may contain one %s, for the huge page size. */
static void name_file(const struct cgroup_tree *t, const char *name, char *ret, size_t size)
{
	const char *place = strstr(name, "%s");

	if (place)
		snprintf(ret, size, "%.*s%s%s", (int)(place - name), name, t->page, place + 2);
	else
		snprintf(ret, size, "%s", name);
}

static bool read_level(const struct cgroup_tree *t, const char *dir, const char *name,
		       uint64_t *ret)
{
	char file[64], path[FILE_PATH_BYTES + 512];

	if (!name)
		return false;
	name_file(t, name, file, sizeof(file));
	snprintf(path, sizeof(path), "%s%s/%s", t->mount.point, dir, file);
	if (file_number(t->f, path, ret))
		return false;
	if (t->mount.v1 && *ret >= NO_LIMIT_V1)
		*ret = LIMIT_NONE;
	return true;
}

/* Returns bytes of file pages and slab that the kernel frees before the OOM killer runs. */
static uint64_t reclaimable(const struct cgroup_tree *t, const char *dir)
{
	static const char *const rows[2][3] = {
		{"inactive_file", "active_file", "slab_reclaimable"},
		{"total_inactive_file", "total_active_file"},
	};
	char path[FILE_PATH_BYTES + 512], *s;
	struct text_lines lines = {};
	struct span line, key;
	uint64_t sum = 0, n;

	snprintf(path, sizeof(path), "%s%s/memory.stat", t->mount.point, dir);
	if (file_read(t->f, path, &s, &lines.rest.len))
		return 0;
	lines.rest.s = s;
	while (text_line(&lines, &line)) {
		key = text_word(&line);
		for (size_t i = 0; i < 3 && rows[t->mount.v1][i]; i++)
			if (text_is(key, rows[t->mount.v1][i]) &&
			    !text_number(text_word(&line), &n))
				sum += n;
	}
	free(s);
	return sum;
}

static bool read_used(const struct cgroup_tree *t, const char *dir, const struct limit *l,
		      uint64_t *ret)
{
	uint64_t back;

	if (!read_level(t, dir, t->mount.v1 ? l->now_v1 : l->now, ret))
		return false;
	if (t->firm && l == &limit_table[LIMIT_CGROUP_MEMORY]) {
		back = reclaimable(t, dir);
		*ret = *ret > back ? *ret - back : 0;
	}
	return true;
}

bool cgroup_tree_has(const struct cgroup_tree *t, const char *dir, const struct limit *l)
{
	char path[FILE_PATH_BYTES + 512];

	/* cgroup v1 lacks some limit files, such as memory.high */
	snprintf(path, sizeof(path), "%s%s", t->mount.point, dir);
	return file_exists(t->f, path) && (!t->mount.v1 || l->max_v1);
}

static uint64_t left_of(uint64_t max, uint64_t used)
{
	return max > used ? max - used : 0;
}

void cgroup_tree_level(const struct cgroup_tree *t, const char *dir, const struct limit *l,
		       struct cgroup_level *ret)
{
	const char *name = t->mount.v1 ? l->max_v1 : l->max;

	memset(ret, 0, sizeof(*ret));
	if (!read_level(t, dir, name, &ret->max) || ret->max == LIMIT_NONE ||
	    !read_used(t, dir, l, &ret->used))
		return;
	ret->binds = true;
	snprintf(ret->dir, sizeof(ret->dir), "%s%s", t->mount.point, dir);
	name_file(t, name, ret->file, sizeof(ret->file));
}

void cgroup_tree_find(const struct cgroup_tree *t, char *dir, const struct limit *l,
		      struct cgroup_level *ret)
{
	struct cgroup_level one;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t up = 0; up < LEVELS_MOST; up++) {
		char *slash = strrchr(dir, '/');

		cgroup_tree_level(t, dir, l, &one);
		one.up = up;
		if (one.binds &&
		    (!ret->binds || left_of(one.max, one.used) < left_of(ret->max, ret->used)))
			*ret = one;
		if (!slash)
			return;
		*slash = 0;
	}
}

bool cgroup_tree_open(struct files *f, const char *controller, struct cgroup_tree *ret)
{
	struct span text;
	bool found;
	char *s;

	memset(ret, 0, sizeof(*ret));
	if (file_read(f, "/proc/self/mountinfo", &s, &text.len))
		return false;
	text.s = s;
	ret->f = f;
	ret->controller = controller;
	found = cgroup_mount_find(text, controller, &ret->mount);
	free(s);
	if (found)
		read_page_size(ret);
	return found;
}

static bool find_path(const struct cgroup_tree *t, uint32_t pid, const char *path, char *ret,
		      size_t size)
{
	char file[48], *s;
	struct span text;
	bool found;

	snprintf(file, sizeof(file), "/proc/%u/cgroup", pid);
	if (!pid || file_read(t->f, file, &s, &text.len)) {
		snprintf(ret, size, "%s", path ? path : "");
		return path && *path;
	}
	text.s = s;
	found = cgroup_path_find(text, t->mount.v1 ? t->controller : NULL, ret, size);
	free(s);
	return found;
}

/*
 * Makes a path relative to the mount's root. The result is "" if the path is outside of
 * faultscope's cgroup namespace.
 */
static void below_mount(const struct cgroup_mount *m, char *path)
{
	size_t len = strlen(m->root);

	if (len > 1 && !strncmp(path, m->root, len) && (!path[len] || path[len] == '/'))
		memmove(path, path + len, strlen(path + len) + 1);
	else if (!strncmp(path, "/..", 3) || !strcmp(path, "/"))
		path[0] = 0;
}

bool cgroup_tree_dir(const struct cgroup_tree *t, uint32_t pid, const char *path, char *ret,
		     size_t size)
{
	if (!find_path(t, pid, path, ret, size))
		return false;
	below_mount(&t->mount, ret);
	return true;
}
