// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/limits/origin_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/limits/origin_user.h"

#define NAMES_MOST 12 /* maximum number of names under which a unit is configured */

/* systemd's search paths for units, highest precedence first; %u is the uid, %h the home. */
static const char *const system_dirs[] = {
	"/etc/systemd/system.control", "/run/systemd/system.control",
	"/run/systemd/transient",      "/run/systemd/generator.early",
	"/etc/systemd/system",	       "/etc/systemd/system.attached",
	"/run/systemd/system",	       "/run/systemd/system.attached",
	"/run/systemd/generator",      "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system",     "/lib/systemd/system",
	"/run/systemd/generator.late", NULL,
};
static const char *const user_dirs[] = {
	"%h/.config/systemd/user.control",
	"/run/user/%u/systemd/user.control",
	"/run/user/%u/systemd/transient",
	"%h/.config/systemd/user",
	"/etc/systemd/user",
	"/run/user/%u/systemd/user",
	"/run/systemd/user",
	"%h/.local/share/systemd/user",
	"/usr/local/lib/systemd/user",
	"/usr/lib/systemd/user",
	"/lib/systemd/user",
	NULL,
};
static const char *const conf_dirs[] = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd",
					"/usr/lib/systemd", "/lib/systemd"};

static bool is_ignored(struct span section)
{
	return text_is(section, "[Unit]") || text_is(section, "[Install]") ||
	       (section.len > 3 && !memcmp(section.s, "[X-", 3));
}

static void scan_assignment(struct unit_limit *s, const char *file, unsigned int number,
			    struct span line)
{
	struct span name, value;

	if (!text_split(line, '=', &name, &value) || !text_is(name, s->key))
		return;
	if (value.len)
		text_keep(&s->line, file, number, line, value);
	else
		s->line.line = 0;
}

void unit_scan(struct unit_limit *s, const char *file, struct span text)
{
	struct text_lines lines = {.rest = text};
	bool ignored = false, goes_on = false;
	struct span line;

	while (text_line(&lines, &line)) {
		bool comment = line.len && (line.s[0] == '#' || line.s[0] == ';');
		bool of_last = goes_on;

		if (comment)
			continue; /* comment lines may stand between the parts of a long line */
		goes_on = line.len && line.s[line.len - 1] == '\\';
		if (of_last || !line.len)
			continue;
		if (line.s[0] == '[')
			ignored = is_ignored(line);
		else if (!ignored)
			scan_assignment(s, file, lines.line, line);
	}
}

struct unit_names {
	char name[NAMES_MOST][FILE_NAME_BYTES * 2];
	size_t n;
	const char *type; /* suffix of all names of the unit, such as "service" */
};

static bool has_name(const struct unit_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

/*
 * Adds the names whose files configure a unit: its own name, the name of its template, and their
 * prefixes that end in a dash (foo-.service). The order is that of `systemd-analyze verify` in
 * systemd 252.
 */
static void add_names(struct unit_names *names, const char *name)
{
	char part[FILE_NAME_BYTES * 2], other[FILE_NAME_BYTES * 2];
	char *type, *instance, *dash;
	size_t len = strlen(name);

	if (names->n == NAMES_MOST || len >= sizeof(part) - 8 || has_name(names, name))
		return;
	memcpy(names->name[names->n++], name, len + 1);
	memcpy(part, name, len + 1);
	type = strrchr(part, '.');
	if (!type)
		return;
	*type++ = 0;
	instance = strchr(part, '@');
	if (instance)
		*instance++ = 0;
	if (instance && *instance) {
		snprintf(other, sizeof(other), "%.240s@.%.12s", part, type);
		add_names(names, other);
	}
	len = strlen(part);
	while (len && part[len - 1] == '-')
		part[--len] = 0;
	dash = strrchr(part, '-');
	if (!dash)
		return;
	dash[1] = 0;
	snprintf(other, sizeof(other), "%.120s%s%.120s.%.12s", part,
		 instance && *instance ? "@" : "", instance ? instance : "", type);
	add_names(names, other);
}

static void scan_file(void *ctx, const char *path, struct span text)
{
	unit_scan(ctx, path, text);
}

struct unit_search {
	struct files *f;
	const char *const *dirs;
	struct user user; /* the user whose manager runs the unit */
};

/* Replaces %u and %h in a directory of the search path. Returns false if the home is unknown. */
static bool expand(const struct unit_search *s, const char *dir, char *ret, size_t size)
{
	int len;

	if (!strncmp(dir, "%h", 2))
		len = s->user.home[0] ? snprintf(ret, size, "%s%s", s->user.home, dir + 2) : -1;
	else if (!strncmp(dir, "/run/user/%u", 12))
		len = snprintf(ret, size, "/run/user/%u%s", s->user.uid, dir + 12);
	else
		len = snprintf(ret, size, "%s", dir);
	return len > 0 && (size_t)len < size;
}

/* Reads the unit's own file or, if it has none, the file of its template. */
static void scan_fragment(const struct unit_search *s, const struct unit_names *names,
			  struct unit_limit *said)
{
	char dir[256], path[FILE_PATH_BYTES];

	for (size_t n = 0; n < names->n && n < 2; n++) {
		if (n && !strstr(names->name[n], "@."))
			return;
		for (size_t i = 0; s->dirs[i]; i++) {
			if (!expand(s, s->dirs[i], dir, sizeof(dir)))
				continue;
			snprintf(path, sizeof(path), "%s/%.250s", dir, names->name[n]);
			if (file_each(s->f, path, scan_file, said))
				return;
		}
	}
}

static void add_drop_ins(const struct unit_search *s, const char *dir, const char *name,
			 struct file_list *list)
{
	char path[FILE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%.250s.d", dir, name);
	file_list_add_dir(s->f, list, path);
}

static void scan_drop_ins(const struct unit_search *s, const struct unit_names *names,
			  struct unit_limit *said)
{
	struct file_list list = {};
	char dir[256];

	for (size_t i = 0; s->dirs[i]; i++)
		for (size_t n = 0; n < names->n && expand(s, s->dirs[i], dir, sizeof(dir)); n++)
			add_drop_ins(s, dir, names->name[n], &list);
	/* drop-ins for a unit type come last, so that the unit's own drop-ins mask them */
	for (size_t i = 0; s->dirs[i]; i++)
		if (expand(s, s->dirs[i], dir, sizeof(dir)))
			add_drop_ins(s, dir, names->type, &list);
	file_list_sort(&list);
	file_list_each(s->f, &list, scan_file, said);
	file_list_free(&list);
}

bool unit_find(struct files *f, const struct workload *w, const char *unit, const char *key,
	       struct origin_line *ret)
{
	struct unit_search s = {.f = f, .dirs = w->user_manager ? user_dirs : system_dirs};
	struct unit_limit said = {.key = key};
	struct unit_names names = {};
	const char *type = strrchr(unit, '.');

	if (!type)
		return false;
	names.type = type + 1;
	add_names(&names, unit);
	if (w->user_manager)
		user_find(f, w->uid, &s.user);
	scan_fragment(&s, &names, &said);
	scan_drop_ins(&s, &names, &said);
	if (!said.line.line)
		return false;
	*ret = said.line;
	return true;
}

bool unit_find_default(struct files *f, const struct workload *w, const char *key,
		       struct origin_line *ret)
{
	const char *name = w->user_manager ? "user.conf" : "system.conf";
	const size_t dirs = sizeof(conf_dirs) / sizeof(conf_dirs[0]);
	struct unit_limit said = {.key = key};
	struct file_list list = {};
	char path[128];

	for (size_t i = 0; i < dirs; i++) {
		snprintf(path, sizeof(path), "%s/%s", conf_dirs[i], name);
		if (file_each(f, path, scan_file, &said))
			break;
	}
	for (size_t i = 0; i < dirs; i++) {
		snprintf(path, sizeof(path), "%s/%s.d", conf_dirs[i], name);
		file_list_add_dir(f, &list, path);
	}
	file_list_sort(&list);
	file_list_each(f, &list, scan_file, &said);
	file_list_free(&list);
	if (!said.line.line)
		return false;
	*ret = said.line;
	return true;
}
