// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the settings of the live view: each value that the view can have is read as it was written,
 * and no text of a file, however odd, does harm.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/key_values.h"
#include "render/tui/tui_parts.h"
#include "render/tui/tui_settings.h"
#include "sums.h"
#include "tap.h"

#define TEXTS 20000

static struct tui t;
static struct buf wrong;
static size_t used;

static void on_used(void *ctx, const struct tui_setting *s, unsigned int line)
{
	used += line > 0 && s->key[0];
}

static void on_wrong(void *ctx, const struct tui_wrong_line *line)
{
	buf_printf(&wrong, "%u: %s\n", line->number, line->why);
}

static const struct tui_reader reader = {on_used, on_wrong, NULL};

static void read_text(const char *text)
{
	buf_clear(&wrong);
	used = 0;
	tui_settings_read(&t, text, &reader);
}

static const char *value_of(const char *key)
{
	static struct buf value;
	struct tui_setting s;

	buf_clear(&value);
	if (tui_setting_find(key, strlen(key), &s))
		tui_setting_get(&t, &s, &value);
	return value.s ? value.s : "";
}

static void test_values(void)
{
	memset(&t, 0, sizeof(t));
	is_str(value_of("theme"), "dark", "a default");
	is_str(value_of("columns.maps"), "default", "default columns");
	is_str(value_of("sort.fds"), "default", "a default order");
	read_text("theme = none\ntree = parents\nended=yes\ncommand_lines = yes\nreversed = yes\n"
		  "sort.fds = fds.count.share\ncolumns.maps = user, maps.count.trend\tpid cpu_ns\n"
		  "columns.faults = none\n");
	is_u64(used, 8, "all lines are used");
	is_str(wrong.s ? wrong.s : "", "", "without a complaint");
	ok(t.theme == THEME_NONE && t.tree == TREE_OF_PROCESSES && t.ended && t.commands &&
		   t.inverted,
	   "words");
	ok(t.sort[2].chosen && t.sort[2].cell == CELL_BAR && t.sort[2].f == FIELD(fds), "an order");
	is_str(value_of("columns.maps"), "user maps.count.trend cpu_ns", "columns; PID is implied");
	is_str(value_of("columns.faults"), "none", "no columns");
	read_text("columns.maps = default\nsort.fds = default\n");
	is_str(value_of("columns.maps"), "default", "default columns again");
	ok(!t.sort[2].chosen, "and the default order");
}

static void complains(const char *text, const char *want)
{
	struct tui before;

	memset(&t, 0, sizeof(t));
	before = t;
	read_text(text);
	is_str(wrong.s ? wrong.s : "", want, text);
	ok(!used && !memcmp(&before, &t, sizeof(t)), "nothing changed");
}

static void test_complaints(void)
{
	complains("\ntheme = blue", "2: theme = blue: allowed: dark, light or none\n");
	complains("theme=", "1: theme=: allowed: dark, light or none\n");
	complains("thme = dark", "1: thme: no setting has this name; the line stays as it is; did "
				 "you mean theme\n");
	complains("just words", "1: just words: expected: key = value\n");
	complains("columns.fds = fds.count nothing",
		  "1: columns.fds = fds.count nothing: allowed: default, none, or names of "
		  "columns\n");
	complains("columns.fds = user user",
		  "1: columns.fds = user user: allowed: default, none, or names of columns\n");
	complains("sort.maps = maps.count.trend",
		  "1: sort.maps = maps.count.trend: allowed: default, or the name of a column\n");
}

/* Each column has a name that finds it, and a list of all columns is read as it was written. */
static void test_every_column(void)
{
	struct tui_cell cell, found;
	struct buf all = {}, text = {};
	bool good = true;
	size_t n = 0;

	for (; tui_cell_at(n, &cell); n++) {
		struct buf name = {};

		tui_put_cell_name(&name, &cell);
		good &= name.s && tui_cell_find(name.s, name.len, &found) &&
			found.cell == cell.cell && found.f == cell.f;
		if (cell.cell != CELL_PID && cell.cell != CELL_NAME)
			buf_printf(&all, "%s%s", all.len ? " " : "", name.s);
		buf_free(&name);
	}
	ok(good && n > 40 && n < COLUMNS_MAX, "%zu columns", n);
	memset(&t, 0, sizeof(t));
	key_values_change(&text, "", "columns.memory", all.s);
	read_text(text.s);
	is_u64(used, 1, "a list of all columns");
	is_str(value_of("columns.memory"), all.s, "is read as it was written");
	buf_free(&all);
	buf_free(&text);
}

static const char *const parts[] = {
	"theme",   "tree",   "columns.faults", "columns.memory", "sort.maps", "ended", "=",
	"=",	   " ",	     "\n",	       "\n",		 "#",	      "dark",  "yes",
	"default", "none",   "faults.minor",   ".share",	 "user",      ",",     "\t",
	"pid",	   "cpu_ns", "\r",	       "\303\244",	 "x",	      ".",     "",
};

#define NR_PARTS (sizeof(parts) / sizeof(parts[0]))

/* Returns the text of a file with all settings that the view has now. */
static char *written(void)
{
	struct buf all = {};
	struct tui_setting s;

	for (size_t i = 0; tui_setting_at(i, &s); i++) {
		struct buf value = {}, changed = {};

		tui_setting_get(&t, &s, &value);
		key_values_change(&changed, all.s ? all.s : "", s.key, value.s);
		buf_free(&all);
		buf_free(&value);
		all = changed;
	}
	return all.s;
}

/* Random texts, in part of words that settings have. What was read can be written and read. */
static void test_random_texts(void)
{
	uint64_t dice = 20261129;
	bool same = true;
	size_t lines = 0;

	for (int i = 0; i < TEXTS; i++) {
		char *first, *second;
		struct buf text = {};

		for (uint64_t n = roll(&dice) % 40; n > 0; n--) {
			const char *part = parts[roll(&dice) % NR_PARTS];
			struct tui_setting s;

			if (!(roll(&dice) % 4) && tui_setting_at(roll(&dice) % 13, &s))
				buf_printf(&text, "\n%s = ", s.key);
			if (roll(&dice) % 8)
				buf_puts(&text, part);
			else
				buf_putc(&text, 1 + roll(&dice) % 255);
		}
		memset(&t, 0, sizeof(t));
		read_text(text.s ? text.s : "");
		lines += used;
		first = written();
		memset(&t, 0, sizeof(t));
		read_text(first);
		second = written();
		same &= used == 13 && !wrong.len && !strcmp(first, second);
		buf_free(&text);
		free(first);
		free(second);
	}
	ok(same && lines > TEXTS / 10, "%d random texts with %zu settings", TEXTS, lines);
}

int main(void)
{
	test_values();
	test_complaints();
	test_every_column();
	test_random_texts();
	buf_free(&wrong);
	return tap_done();
}
