// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/tui/tui_settings.h"

#include <ctype.h>
#include <stdio.h>

#include "base/key_values.h"
#include "base/nearest.h"
#include "render/tui/tui_parts.h"

#define SHOWN_MAX 64 /* maximum length of a key or value in a message */

enum id { ID_THEME, ID_TREE, ID_COMMANDS, ID_ENDED, ID_REVERSED, ID_SORT, ID_COLUMNS };

static const char *const themes[] = {"dark", "light", "none"};
static const char *const trees[] = {"no", "cgroups", "parents"};
static const char *const no_yes[] = {"no", "yes"};

#define WORDS(list) list, sizeof(list) / sizeof(list[0])

/* The settings that the view has once, and then those that each table has. */
static const struct tui_setting once[] = {
	{"theme", "colours: for a dark background, for a light one, or none (key L)",
	 WORDS(themes), false, ID_THEME},
	{"tree", "processes as a list, or as a tree of cgroups or of parents (key t)",
	 WORDS(trees), false, ID_TREE},
	{"command_lines", "full command lines in place of names (key c)", WORDS(no_yes), false,
	 ID_COMMANDS},
	{"ended", "ended processes and cleared findings in place of what is there now (key e)",
	 WORDS(no_yes), false, ID_ENDED},
	{"reversed", "the order of rows is reversed (key I)", WORDS(no_yes), false, ID_REVERSED},
};
#define NR_ONCE (sizeof(once) / sizeof(once[0]))

/* One row for each table: keys of the settings for its order and its columns. */
static const struct {
	const char *sort, *columns;
} of_tab[] = {
	{"sort.faults", "columns.faults"},
	{"sort.maps", "columns.maps"},
	{"sort.fds", "columns.fds"},
	{"sort.memory", "columns.memory"},
};
#define NR_OF_TAB (sizeof(of_tab) / sizeof(of_tab[0]))

bool tui_setting_at(size_t at, struct tui_setting *ret)
{
	static const struct tui_setting
		sort = {"", "column by which the rows are sorted (keys s, F; click)",
			NULL, 0, false, ID_SORT},
		columns = {"", "columns, in this order; PID and PROCESS are always shown (key o)",
			   NULL, 0, true, ID_COLUMNS};

	if (at < NR_ONCE) {
		*ret = once[at];
		return true;
	}
	at -= NR_ONCE;
	if (at >= 2 * NR_OF_TAB)
		return false;
	*ret = at % 2 ? columns : sort;
	ret->tab = at / 2;
	ret->key = at % 2 ? of_tab[ret->tab].columns : of_tab[ret->tab].sort;
	return true;
}

bool tui_setting_find(const char *key, size_t len, struct tui_setting *ret)
{
	for (size_t i = 0; tui_setting_at(i, ret); i++)
		if (strlen(ret->key) == len && !memcmp(ret->key, key, len))
			return true;
	return false;
}

static size_t word_of(const struct tui *t, int id)
{
	return id == ID_THEME	   ? t->theme
	       : id == ID_TREE	   ? t->tree
	       : id == ID_COMMANDS ? t->commands
	       : id == ID_ENDED	   ? t->ended
				   : t->inverted;
}

static void set_word(struct tui *t, int id, size_t n)
{
	if (id == ID_THEME)
		t->theme = n;
	else if (id == ID_TREE)
		t->tree = n;
	else if (id == ID_COMMANDS)
		t->commands = n;
	else if (id == ID_ENDED)
		t->ended = n;
	else
		t->inverted = n;
}

static void put_columns(const struct tui_choice *c, struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && c->made; i++)
		if (!c->cell[i].hidden) {
			buf_puts(b, n++ ? " " : "");
			tui_put_cell_name(b, &c->cell[i]);
		}
	if (!c->made)
		buf_puts(b, "default");
	else if (!n)
		buf_puts(b, "none");
}

void tui_setting_get(const struct tui *t, const struct tui_setting *s, struct buf *b)
{
	const struct tui_sort *sort = &t->sort[s->tab];

	if (s->words)
		buf_puts(b, s->words[word_of(t, s->id)]);
	else if (s->is_list)
		put_columns(&t->choice[s->tab], b);
	else if (sort->chosen)
		tui_put_cell_name(b, &(struct tui_cell){sort->cell, sort->f});
	else
		buf_puts(b, "default");
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(s, word, len);
}

/* Takes names of columns with blanks or commas between them. */
static bool set_columns(struct tui_choice *ret, const char *value, size_t len)
{
	struct tui_choice c = {.made = true};
	const char *end = value + len;

	if (is_word(value, len, "default")) {
		ret->made = false;
		return true;
	}
	if (is_word(value, len, "none"))
		value = end;
	while (value < end) {
		size_t n = 0;
		struct tui_cell cell;

		while (value + n < end && !memchr(" \t,", value[n], 3))
			n++;
		if (n && (!tui_cell_find(value, n, &cell) || tui_choice_has(&c, &cell) ||
			  c.n == COLUMNS_MAX))
			return false;
		if (n && cell.cell != CELL_PID && cell.cell != CELL_NAME)
			c.cell[c.n++] = cell;
		value += n + (value + n < end);
	}
	*ret = c;
	return len > 0;
}

static bool set_sort(struct tui_sort *ret, const char *value, size_t len)
{
	struct tui_cell cell;

	if (is_word(value, len, "default")) {
		*ret = (struct tui_sort){};
		return true;
	}
	if (!tui_cell_find(value, len, &cell) || cell.cell == CELL_SPARK)
		return false;
	*ret = (struct tui_sort){true, cell.cell, cell.f};
	return true;
}

bool tui_setting_set(struct tui *t, const struct tui_setting *s, const char *value, size_t len)
{
	if (!s->words)
		return s->is_list ? set_columns(&t->choice[s->tab], value, len)
				  : set_sort(&t->sort[s->tab], value, len);
	for (size_t i = 0; i < s->nr_words; i++)
		if (is_word(value, len, s->words[i])) {
			set_word(t, s->id, i);
			return true;
		}
	return false;
}

void tui_setting_put_allowed(struct buf *b, const struct tui_setting *s)
{
	for (size_t i = 0; i < s->nr_words; i++)
		buf_printf(b, "%s%s",
			   !i			  ? ""
			   : i + 1 < s->nr_words ? ", "
						 : " or ",
			   s->words[i]);
	if (!s->words)
		buf_puts(b, s->is_list ? "default, none, or names of columns"
				       : "default, or the name of a column");
}

/* Reports a line that is not used: the beginning of `s`, and why the line is not used. */
static void tell(const struct tui_reader *r, const struct key_value *line, const char *s,
		 size_t len, const char *why)
{
	char text[SHOWN_MAX + 1], message[512];

	snprintf(text, sizeof(text), "%.*s", (int)(len < SHOWN_MAX ? len : SHOWN_MAX), s);
	snprintf(message, sizeof(message), "%s: %s", text, why);
	r->wrong(r->ctx, &(struct tui_wrong_line){line->number, message});
}

static void tell_unknown(const struct tui_reader *r, const struct key_value *line)
{
	char typed[SHOWN_MAX] = "", why[256];
	struct nearest near = {.typed = typed};
	struct tui_setting s;

	if (line->key_len < sizeof(typed))
		memcpy(typed, line->key, line->key_len);
	for (size_t i = 0; tui_setting_at(i, &s); i++)
		nearest_add(&near, s.key);
	snprintf(why, sizeof(why), "no setting has this name; the line stays as it is%s%s",
		 near.word ? "; did you mean " : "", near.word ? near.word : "");
	tell(r, line, line->key, line->key_len, why);
}

static void tell_value(const struct tui_reader *r, const struct key_value *line,
		       const struct tui_setting *s)
{
	char why[256];
	struct buf b = BUF_IN(why);

	buf_puts(&b, "allowed: ");
	tui_setting_put_allowed(&b, s);
	tell(r, line, line->key, line->value + line->value_len - line->key, why);
}

void tui_settings_read(struct tui *t, const char *text, const struct tui_reader *r)
{
	struct key_value line = {};
	enum key_value_line kind;
	struct tui_setting s;

	while ((kind = key_value_next(&text, &line))) {
		if (kind == LINE_WRONG)
			tell(r, &line, line.line, line.line_len, "expected: key = value");
		else if (kind == LINE_PAIR && !tui_setting_find(line.key, line.key_len, &s))
			tell_unknown(r, &line);
		else if (kind == LINE_PAIR && !tui_setting_set(t, &s, line.value, line.value_len))
			tell_value(r, &line, &s);
		else if (kind == LINE_PAIR)
			r->used(r->ctx, &s, line.number);
	}
}
