// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/origin_cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/origin_unit.h"

#define LEVELS_MOST 64
#define NO_LIMIT_V1 (1ULL << 60) /* version 1 writes none as the most pages there can be */

/* Blanks and the like are written as octal there. */
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
	else if (text_is(type, "cgroup") && lists(line, controller))
		ret->v1 = true;
	else
		return false;
	unescape(root, ret->root, sizeof(ret->root));
	unescape(point, ret->point, sizeof(ret->point));
	return true;
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

struct hierarchy {
	struct files *f;
	struct cgroup_mount mount;
	char page[16]; /* size of a huge page, as cgroups spell it */
};

static void read_page_size(struct hierarchy *h)
{
	struct span value, text;
	uint64_t kib = 2048;
	char *s;

	if (!file_read(h->f, "/proc/meminfo", &s, &text.len)) {
		text.s = s;
		if (text_status(text, "Hugepagesize", &value))
			text_number(text_word(&value), &kib);
		free(s);
	}
	if (kib >= 1 << 20)
		snprintf(h->page, sizeof(h->page), "%uGB", (unsigned int)(kib >> 20));
	else if (kib >= 1 << 10)
		snprintf(h->page, sizeof(h->page), "%uMB", (unsigned int)(kib >> 10));
	else
		snprintf(h->page, sizeof(h->page), "%uKB", (unsigned int)kib);
}

/* The table's names have one place for the page's size, or none. */
static void name_file(const struct hierarchy *h, const char *name, char *ret, size_t size)
{
	const char *place = strstr(name, "%s");

	if (place)
		snprintf(ret, size, "%.*s%s%s", (int)(place - name), name, h->page, place + 2);
	else
		snprintf(ret, size, "%s", name);
}

static bool read_level(const struct hierarchy *h, const char *dir, const char *name, uint64_t *ret)
{
	char file[64], path[FILE_PATH_BYTES + 512];

	if (!name)
		return false;
	name_file(h, name, file, sizeof(file));
	snprintf(path, sizeof(path), "%s%s/%s", h->mount.point, dir, file);
	if (file_number(h->f, path, ret))
		return false;
	if (h->mount.v1 && *ret >= NO_LIMIT_V1)
		*ret = LIMIT_NONE;
	return true;
}

/* The root of a hierarchy has none of the files, but is there; version 1 has no memory.high. */
static bool has_limit(const struct hierarchy *h, const char *dir, const struct limit *l)
{
	char path[FILE_PATH_BYTES + 512];

	snprintf(path, sizeof(path), "%s%s", h->mount.point, dir);
	return file_exists(h->f, path) && (!h->mount.v1 || l->max_v1);
}

static uint64_t left_of(uint64_t max, uint64_t used)
{
	return max > used ? max - used : 0;
}

/* The level with the least left; of equal ones the innermost. The root of version 2 has no file. */
static void find_binding(const struct hierarchy *h, char *dir, struct origin *o)
{
	const struct limit *l = o->limit;
	const char *max_name = h->mount.v1 ? l->max_v1 : l->max;
	uint64_t max, used;
	uint32_t level = 0;

	for (; level < LEVELS_MOST; level++) {
		char *slash = strrchr(dir, '/');

		if (read_level(h, dir, max_name, &max)) {
			if (max != LIMIT_NONE &&
			    read_level(h, dir, h->mount.v1 ? l->now_v1 : l->now, &used) &&
			    (!o->file[0] || left_of(max, used) < left_of(o->value, o->used))) {
				o->value = max;
				o->used = used;
				o->levels = level;
				snprintf(o->dir, sizeof(o->dir), "%s%s", h->mount.point, dir);
				name_file(h, max_name, o->file, sizeof(o->file));
			}
		}
		if (!slash)
			return;
		*slash = 0;
	}
}

/* A share of what the machine could have, as systemd counts it, within the rounding. */
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
	/* the kernel keeps whole pages */
	return !text_number(text, &said) && (said == value || (said & ~4095ULL) == value);
}

/* Slices, services, scopes … each are a unit, and so may have set it. */
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
	/* what it was called before systemd 231 */
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
	return is_share(f, o->value, 15); /* DefaultTasksMax= since 228 */
}

/* A container's own cgroup or its pod's, not one that it made below. */
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

static void judge(struct files *f, const struct hierarchy *h, struct origin *o)
{
	const char *below = o->dir + strlen(h->mount.point);

	workload_of(below, &o->at_holder);
	if (is_runtimes(below))
		o->from = ORIGIN_RUNTIME;
	else if (o->outside && !*below)
		o->from = ORIGIN_OUTSIDE;
	else if (!judge_unit(f, o))
		o->from = ORIGIN_HAND;
}

/* From the process' own line; of one that is gone `path` is what was known. */
static bool find_path(struct files *f, uint32_t pid, const char *path, const struct hierarchy *h,
		      const char *controller, char *ret, size_t size)
{
	char file[48], *s;
	struct span text;
	bool found;

	snprintf(file, sizeof(file), "/proc/%u/cgroup", pid);
	if (!pid || file_read(f, file, &s, &text.len)) {
		snprintf(ret, size, "%s", path ? path : "");
		return path && *path;
	}
	text.s = s;
	found = cgroup_path_find(text, h->mount.v1 ? controller : NULL, ret, size);
	free(s);
	return found;
}

/* Below the mount's own root; what lies outside of our cgroup namespace is not to be seen. */
static void below_mount(const struct cgroup_mount *m, char *path)
{
	size_t len = strlen(m->root);

	if (len > 1 && !strncmp(path, m->root, len) && (!path[len] || path[len] == '/'))
		memmove(path, path + len, strlen(path + len) + 1);
	else if (!strncmp(path, "/..", 3) || !strcmp(path, "/"))
		path[0] = 0;
}

void origin_of_cgroup(struct files *f, uint32_t pid, const char *path, struct origin *o)
{
	struct hierarchy h = {.f = f};
	char dir[FILE_PATH_BYTES], *s;
	struct span text;
	bool found;

	if (file_read(f, "/proc/self/mountinfo", &s, &text.len))
		return;
	text.s = s;
	found = cgroup_mount_find(text, o->limit->controller, &h.mount);
	free(s);
	if (!found || !find_path(f, pid, path, &h, o->limit->controller, dir, sizeof(dir)))
		return;
	below_mount(&h.mount, dir);
	read_page_size(&h);
	o->value = LIMIT_NONE;
	o->known = has_limit(&h, dir, o->limit);
	o->from = o->known ? ORIGIN_NOBODY : ORIGIN_UNKNOWN;
	find_binding(&h, dir, o);
	if (o->file[0])
		judge(f, &h, o);
}
