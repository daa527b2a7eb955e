// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "collect/limits/origin_sysctl.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const dirs[] = {"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d",
				   "/usr/lib/sysctl.d", "/lib/sysctl.d"};
#define OLD_FILE "/etc/sysctl.conf"

/*
 * Makes sysctl names comparable: "vm.max_map_count" and "vm/max_map_count" are one name
 * (sysctl.d(5)). If the first separator is a dot, dots and slashes are swapped.
 */
static void normalize(struct span name, char *ret, size_t size)
{
	char *first;

	text_copy(name, ret, size);
	first = strpbrk(ret, "/.");
	if (first && *first == '.')
		for (char *c = first; *c; c++)
			*c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
	if (!strncmp(ret, "/proc/sys/", 10))
		memmove(ret, ret + 10, strlen(ret + 10) + 1);
}

static void scan_line(struct sysctl_setting *s, const char *file, unsigned int number,
		      struct span line)
{
	struct span name = line, value = {};
	bool dash, sets;
	char key[256];

	if (!line.len || line.s[0] == '#' || line.s[0] == ';')
		return;
	dash = line.s[0] == '-';
	if (dash)
		name = (struct span){line.s + 1, line.len - 1};
	sets = text_split(name, '=', &name, &value);
	if ((!sets && !dash) || name.len >= sizeof(key))
		return;
	normalize(text_trim(name), key, sizeof(key));
	if (!strcmp(key, s->key)) {
		if (sets)
			text_keep(&s->exact, file, number, line, value);
		else
			s->excluded = true;
	} else if (sets && strpbrk(key, "*?[") && !fnmatch(key, s->key, FNM_PATHNAME)) {
		text_keep(&s->glob, file, number, line, value);
		s->glob.glob = true;
	}
}

void sysctl_scan(struct sysctl_setting *s, const char *file, struct span text)
{
	struct text_lines lines = {.rest = text};
	struct span line;

	while (text_line(&lines, &line))
		scan_line(s, file, lines.line, line);
}

const struct origin_line *sysctl_line(const struct sysctl_setting *s)
{
	if (s->exact.line)
		return &s->exact;
	return s->glob.line && !s->excluded ? &s->glob : NULL;
}

bool sysctl_scan_boot(const char *key, struct span cmdline, struct origin_line *ret)
{
	struct span rest = text_trim(cmdline), word, name, value;
	char normal[256];
	bool found = false;

	while (rest.len) {
		word = text_word(&rest);
		if (text_is(word, "--"))
			break;
		if (!text_split(word, '=', &name, &value) || name.len >= sizeof(normal))
			continue;
		if (name.len > 7 && !memcmp(name.s, "sysctl.", 7))
			normalize((struct span){name.s + 7, name.len - 7}, normal, sizeof(normal));
		else if (text_is(name, "hugepages"))
			strcpy(normal, "vm/nr_hugepages");
		else
			continue;
		if (strcmp(normal, key))
			continue;
		text_keep(ret, "/proc/cmdline", 1, word, value);
		found = true;
	}
	return found;
}

static void scan_file(void *ctx, const char *path, struct span text)
{
	sysctl_scan(ctx, path, text);
}

/*
 * `sysctl --system` reads sysctl.conf last. systemd reads sysctl.conf only if sysctl.d contains a
 * link to it. On a system with systemd, the lines of sysctl.conf are stored in *ret_late: only a
 * manual `sysctl -p` applies them.
 */
static void scan_files(struct files *f, struct sysctl_setting *s, struct sysctl_setting *ret_late)
{
	struct file_list list = {};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		file_list_add_dir(f, &list, dirs[i]);
	file_list_sort(&list);
	file_list_each(f, &list, scan_file, s);
	file_list_free(&list);
	file_each(f, OLD_FILE, scan_file, file_exists(f, "/run/systemd/system") ? ret_late : s);
}

static bool says(const struct origin_line *line, uint64_t value)
{
	uint64_t said;
	struct span text = {line->value, strlen(line->value)};

	return !text_number(text, &said) && said == value;
}

static void scan_cmdline(void *ctx, const char *path, struct span text)
{
	struct origin *o = ctx;

	if (text.len && text.s[text.len - 1] == '\n')
		text.len--;
	if (sysctl_scan_boot(o->limit->path, text, &o->line) && says(&o->line, o->value))
		o->from = ORIGIN_BOOT;
	else
		o->line.line = 0;
}

/*
 * At boot, sysctl files are applied after the kernel command line. If a file contains the current
 * value, this file set it.
 */
static void judge_files(struct files *f, struct origin *o)
{
	struct sysctl_setting said = {.key = o->limit->path}, late = said;
	const struct origin_line *line;

	scan_files(f, &said, &late);
	line = sysctl_line(&said);
	if (sysctl_line(&late) && (!line || !says(line, o->value)) &&
	    says(sysctl_line(&late), o->value))
		line = sysctl_line(&late);
	if (line && says(line, o->value)) {
		o->from = ORIGIN_FILE;
		o->line = *line;
		return;
	}
	file_each(f, "/proc/cmdline", scan_cmdline, o);
	if (o->from == ORIGIN_BOOT)
		return;
	if (line)
		o->line = *line;
	/* a value that was reset by hand to the initial one looks as if it was never set */
	o->from = !line && o->value == o->limit->initial ? ORIGIN_KERNEL : ORIGIN_HAND;
	/* systemd raises fs.file-max: bump_file_max_and_nr_open(), src/core/main.c */
	if (!line && o->limit == &limit_table[LIMIT_FILE_MAX] && o->value == LONG_MAX &&
	    file_exists(f, "/run/systemd/system"))
		o->from = ORIGIN_MANAGER;
}

void origin_of_sysctl(struct files *f, struct origin *o)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/%s", o->limit->path);
	if (file_number(f, path, &o->value))
		return;
	o->known = true;
	if (!o->outside)
		judge_files(f, o);
	else
		o->from = o->value == o->limit->initial ? ORIGIN_KERNEL : ORIGIN_OUTSIDE;
}
