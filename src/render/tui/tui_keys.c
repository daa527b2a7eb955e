// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Decodes keys in the terminal's bytes, and changes the live view accordingly. */
#include <stdio.h>
#include <string.h>

#include "render/tui/tui_parts.h"

#define WHEEL_ROWS 3 /* rows by which one step of the mouse wheel scrolls */

const struct tui_help tui_help[] = {
#define KEY_HELP(keys, what) {keys, what},
#include "render/tui/tui_keys.def"
#undef KEY_HELP
};
const size_t nr_tui_help = sizeof(tui_help) / sizeof(tui_help[0]);

static const struct sequence {
	const char *s;
	enum tui_key key;
} sequences[] = {
	{"[A", KEY_UP},	      {"OA", KEY_UP},	      {"[B", KEY_DOWN},	    {"OB", KEY_DOWN},
	{"[C", KEY_RIGHT},    {"OC", KEY_RIGHT},      {"[D", KEY_LEFT},	    {"OD", KEY_LEFT},
	{"[H", KEY_HOME},     {"OH", KEY_HOME},	      {"[1~", KEY_HOME},    {"[7~", KEY_HOME},
	{"[F", KEY_END},      {"OF", KEY_END},	      {"[4~", KEY_END},	    {"[8~", KEY_END},
	{"[5~", KEY_PAGE_UP}, {"[6~", KEY_PAGE_DOWN}, {"[Z", KEY_BACK_TAB}, {"OP", '?'},
	{"[11~", '?'},	      {"OQ", 'o'},	      {"[12~", 'o'},
};

/* Decodes an escape sequence. Returns -1 if the sequence is incomplete. */
static int64_t decode_sequence(struct tui_keys *k)
{
	bool whole =
		k->n >= 3 && (k->s[1] == 'O' || (k->s[k->n - 1] >= '@' && k->s[k->n - 1] <= '~'));

	if (k->n == 1 || (k->n == 2 && (k->s[1] == '[' || k->s[1] == 'O')))
		return -1;
	if (k->s[1] != '[' && k->s[1] != 'O')
		return KEY_UNKNOWN; /* Alt+key is not used */
	if (!whole && k->n < sizeof(k->s) - 1)
		return -1;
	k->s[k->n] = 0;
	if (mouse_decode(k->s + 1, &k->mouse))
		return KEY_MOUSE;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strlen(sequences[i].s) == k->n - 1 &&
		    !memcmp(sequences[i].s, k->s + 1, k->n - 1))
			return sequences[i].key;
	return KEY_UNKNOWN;
}

static int64_t decode(struct tui_keys *k)
{
	unsigned char c = k->s[0];
	size_t need = c >= 0xf5 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
	uint32_t code;

	if (c == KEY_ESCAPE)
		return decode_sequence(k);
	if (c == '\n')
		return KEY_ENTER;
	if (c == 8)
		return KEY_BACKSPACE;
	if (k->n < need)
		return -1;
	k->s[k->n] = 0;
	return utf8_decode(k->s, &code) ? code : KEY_UNKNOWN;
}

size_t tui_decode(struct tui_keys *k, const char *s, size_t len, uint32_t *ret_key)
{
	size_t taken = 0;
	int64_t key = -1;

	*ret_key = KEY_NONE;
	if (!len && k->n) {
		*ret_key = k->s[0] == KEY_ESCAPE && k->n == 1 ? KEY_ESCAPE : KEY_UNKNOWN;
		k->n = 0;
	}
	while (taken < len && key < 0) {
		/* after Esc, a second Esc arrived: the first one was a key by itself */
		if (k->n == 1 && k->s[0] == KEY_ESCAPE && s[taken] == KEY_ESCAPE)
			key = KEY_ESCAPE;
		else
			k->s[k->n++] = s[taken++];
		if (key < 0)
			key = decode(k);
	}
	if (key >= 0) {
		*ret_key = key;
		k->n = 0;
	}
	return taken;
}

static void set_tab(struct tui *t, size_t tab)
{
	t->tab = tab % nr_tui_tabs;
	t->where = TUI_TABLE;
	t->at = t->top = t->scroll = t->aside = 0;
	t->follows = false;
	t->chosen_rule = NULL;
}

static bool is_list(const struct tui *t)
{
	return t->where == TUI_TABLE && tui_tabs[t->tab].kind != TAB_TEXT;
}

static size_t screenful(const struct tui *t, const struct view *v)
{
	size_t room = tui_room(t, v);

	return room > 3 ? room - 2 : 1;
}

static size_t moved(size_t at, long by)
{
	return by < 0 && (size_t)-by > at ? 0 : at + by;
}

static void move_in_table(struct tui *t, const struct view *v, long by)
{
	struct rows r;

	if (!tui_rows(t, v, &r)) {
		tui_place(t, &r, screenful(t, v));
		tui_choose(t, &r, moved(t->at, by));
	}
	rows_free(&r);
}

static void move_in_findings(struct tui *t, const struct view *v, long by)
{
	const struct finding *f[TUI_LISTED];
	size_t n = tui_place_finding(t, v, f);

	tui_choose_finding(t, f, n, moved(t->at, by));
}

/* Moves the cursor by `by` rows, or scrolls a page by `by` lines. */
static void move(struct tui *t, const struct view *v, long by)
{
	if (!is_list(t)) {
		t->scroll = moved(t->scroll, by);
		if (t->scroll > t->lines)
			t->scroll = t->lines;
		return;
	}
	if (tui_tabs[t->tab].kind == TAB_TABLE)
		move_in_table(t, v, by);
	else
		move_in_findings(t, v, by);
	/* in the first row, the cursor stays in the row; in others, it follows its process */
	t->follows = t->at > 0;
}

static void go(struct tui *t, enum tui_where where)
{
	t->back = t->where;
	t->where = where;
	t->scroll = 0;
}

static void fold(struct tui *t)
{
	for (size_t i = 0; i < t->nr_folded; i++)
		if (t->folded[i] == t->chosen_group) {
			t->folded[i] = t->folded[--t->nr_folded];
			return;
		}
	if (t->nr_folded < TUI_FOLDED_MAX)
		t->folded[t->nr_folded++] = t->chosen_group;
}

static enum tui_action open_page(struct tui *t, enum tui_where where)
{
	if (!t->chosen.pid)
		return TUI_DRAW;
	go(t, where);
	return t->looks ? TUI_READ : TUI_DRAW;
}

static enum tui_action enter(struct tui *t)
{
	if (t->where == TUI_HELP || t->where == TUI_COMMANDS)
		return TUI_DRAW;
	if (t->where != TUI_TABLE) {
		t->back_from_commands = t->where;
		t->where = TUI_COMMANDS;
		t->scroll = 0;
		return TUI_DRAW;
	}
	if (tui_tabs[t->tab].kind == TAB_TEXT)
		return TUI_DRAW;
	if (tui_tabs[t->tab].kind == TAB_FINDINGS) {
		if (t->chosen_rule)
			go(t, TUI_FINDING);
		return TUI_DRAW;
	}
	t->follows = true;
	if (t->chosen_group) {
		fold(t);
		return TUI_DRAW;
	}
	return open_page(t, TUI_PROCESS);
}

static void leave(struct tui *t)
{
	if (t->where == TUI_TABLE)
		t->filter[0] = 0;
	else if (t->where == TUI_HELP)
		t->where = t->back_from_help;
	else if (t->where == TUI_COMMANDS)
		t->where = t->back_from_commands;
	else if (t->where == TUI_DIAGNOSIS || t->where == TUI_MEMORY)
		t->where = t->back == t->where ? TUI_TABLE : t->back;
	else
		t->where = TUI_TABLE;
	t->scroll = 0;
}

/* Sorts by column `i`, or for -1 in the order of the tab, and says so. */
static void sort_by(struct tui *t, const struct view *v, const struct columns *c, int i)
{
	struct tui_sort *sort = &t->sort[t->tab];
	struct buf order = {};

	*sort = i < 0 ? (struct tui_sort){} : (struct tui_sort){true, c->c[i].cell, c->c[i].f};
	tui_put_order(&order, t, v);
	snprintf(t->say, sizeof(t->say), "order: %s", order.s ? order.s : "");
	buf_free(&order);
}

static void sort_next(struct tui *t, const struct view *v, int by)
{
	struct columns c;
	int i;

	if (tui_tabs[t->tab].kind != TAB_TABLE)
		return;
	tui_columns(t, v, &c);
	i = tui_sorted_by(t, &c);
	do {
		/*
		 * -1, which stands for the tab's own order, comes between the last column and the
		 * first one
		 */
		i += by;
		if (i >= (int)c.n)
			i = -1;
		else if (i < -1)
			i = c.n - 1;
	} while (i >= 0 && c.c[i].cell == CELL_SPARK);
	sort_by(t, v, &c, i);
}

/* Removes the last character, which may have several bytes. */
static void rub_out(char *s)
{
	size_t len = strlen(s);

	while (len && (s[len - 1] & 0xc0) == 0x80)
		len--;
	s[len ? len - 1 : 0] = 0;
}

static void type(char *s, size_t size, uint32_t key)
{
	size_t len = strlen(s);
	int need = key < 0x80 ? 1 : key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;

	if (key < ' ' || key == KEY_BACKSPACE || key > 0x10ffff || len + need >= size)
		return;
	for (int i = need - 1; i > 0; i--, key >>= 6)
		s[len + i] = 0x80 | (key & 0x3f);
	s[len] = need == 1 ? key : ((0xf00 >> need) & 0xf0) | key;
	s[len + need] = 0;
}

/* Moves the cursor to the first process from row `from` on that matches the search, if any. */
static void find_row(struct tui *t, const struct view *v, size_t from)
{
	struct rows r;
	int err = tui_rows(t, v, &r);

	for (size_t i = 0; !err && i < r.n; i++) {
		size_t at = (from + i) % r.n;
		const struct row *row = &r.all[r.shown[at]];

		if (!row->s || !tui_matches(v, row->s, t->search))
			continue;
		tui_choose(t, &r, at);
		t->follows = true;
		break;
	}
	rows_free(&r);
}

/* Shows the effect of a filter or a search while the user types it. */
static void show_typed(struct tui *t, const struct view *v, enum tui_question asks)
{
	if (asks == ASKS_FILTER) {
		memcpy(t->filter, t->typed, sizeof(t->filter));
		t->at = t->top = 0;
		t->follows = false;
	} else if (asks == ASKS_SEARCH) {
		memcpy(t->search, t->typed, sizeof(t->search));
		find_row(t, v, t->searched_from);
	}
}

/* Handles a key while the user types a filter, words to find, or a time. */
static enum tui_action answer(struct tui *t, const struct view *v, uint32_t key)
{
	enum tui_question asks = t->asks;

	if (key == KEY_ESCAPE || key == KEY_ENTER)
		t->asks = ASKS_NOTHING;
	else if (key == KEY_BACKSPACE)
		rub_out(t->typed);
	else
		type(t->typed, sizeof(t->typed), key);
	if (key == KEY_ESCAPE && asks == ASKS_FILTER)
		memcpy(t->typed, t->filter_before, sizeof(t->typed));
	if (key == KEY_ESCAPE && asks == ASKS_SEARCH)
		t->at = t->searched_from;
	else
		show_typed(t, v, asks);
	return key == KEY_ENTER && asks == ASKS_TIME && t->typed[0] ? TUI_JUMP : TUI_DRAW;
}

/* Sorts by a field, in the current tab or else in the first tab that has the column. */
static void sort_by_field(struct tui *t, const struct view *v, enum cell cell,
			  const struct field *f)
{
	unsigned int first = t->tab;

	for (size_t n = 0; n <= nr_tui_tabs; n++) {
		unsigned int tab = n ? n - 1 : first;
		struct columns c;

		if (tui_tabs[tab].kind != TAB_TABLE)
			continue;
		tui_columns_at(t, tab, v, &c);
		for (size_t i = 0; i < c.n; i++)
			if (c.c[i].cell == cell && c.c[i].f == f) {
				if (tab != first)
					set_tab(t, tab);
				t->where = TUI_TABLE;
				t->at = t->top = 0;
				t->follows = false;
				sort_by(t, v, &c, i);
				return;
			}
	}
	snprintf(t->say, sizeof(t->say), "no tab shows this column; o chooses columns");
}

/* Handles letters for common orders, as other monitors have them. */
static bool press_sort(struct tui *t, const struct view *v, uint32_t key)
{
	static const struct columns none = {};

	switch (key) {
	case 'P':
		sort_by_field(t, v, CELL_FIELD, FIELD(cpu));
		return true;
	case 'M':
		sort_by_field(t, v, CELL_FIELD, field_find("memory.rss_bytes"));
		return true;
	case 'D':
		sort_by_field(t, v, CELL_FIELD, FIELD(fds));
		return true;
	case 'N':
		sort_by_field(t, v, CELL_PID, NULL);
		return true;
	case 'F':
		t->inverted = false;
		if (tui_tabs[t->tab].kind == TAB_TABLE)
			sort_by(t, v, &none, -1);
		return true;
	}
	return false;
}

/* Opens what is in the cursor's row, or moves the cursor to the row at `line` of the screen. */
static enum tui_action click_row(struct tui *t, const struct view *v, size_t line)
{
	size_t at = t->top + line, before = t->at;
	enum tui_action action = TUI_DRAW;

	move(t, v, (long)at - (long)t->at);
	t->follows = true;
	if (t->at == at && before == at)
		action = enter(t);
	return action;
}

static enum tui_action click(struct tui *t, const struct view *v, const struct tui_mouse *m)
{
	size_t head = tui_head_lines(v), tab;
	struct columns c;
	int i;

	if (m->y == head && t->where == TUI_TABLE && tui_tab_at(t, v, m->x, &tab)) {
		set_tab(t, tab);
		return TUI_DRAW;
	}
	if (!is_list(t) || m->y <= head || m->y > head + tui_room(t, v))
		return TUI_DRAW;
	if (m->y > head + 1)
		return click_row(t, v, m->y - head - 2);
	if (tui_tabs[t->tab].kind != TAB_TABLE)
		return TUI_DRAW;
	tui_columns(t, v, &c);
	i = tui_column_at(t, v, &c, m->x);
	if (i < 0 || c.c[i].cell == CELL_SPARK)
		return TUI_DRAW;
	t->inverted = tui_sorted_by(t, &c) == i && !t->inverted;
	sort_by(t, v, &c, i);
	return TUI_DRAW;
}

static enum tui_action on_mouse(struct tui *t, const struct view *v)
{
	const struct tui_mouse *m = &t->keys.mouse;
	size_t head = tui_head_lines(v);

	if (t->where == TUI_COLUMNS) {
		if (m->button == MOUSE_WHEEL_UP || m->button == MOUSE_WHEEL_DOWN)
			tui_move_in_columns(t, m->button == MOUSE_WHEEL_UP ? -WHEEL_ROWS
									   : WHEEL_ROWS);
		else if (m->button == MOUSE_LEFT && m->y > head && m->y <= head + tui_room(t, v))
			tui_click_column(t, v, m->y - head - 1);
		return TUI_DRAW;
	}
	if (m->button == MOUSE_WHEEL_UP)
		move(t, v, -WHEEL_ROWS);
	else if (m->button == MOUSE_WHEEL_DOWN)
		move(t, v, WHEEL_ROWS);
	else if (m->button == MOUSE_LEFT)
		return click(t, v, m);
	return TUI_DRAW;
}

static bool press_moves(struct tui *t, const struct view *v, uint32_t key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move(t, v, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		move(t, v, 1);
		return true;
	case KEY_PAGE_UP:
		move(t, v, -(long)screenful(t, v));
		return true;
	case KEY_PAGE_DOWN:
		move(t, v, screenful(t, v));
		return true;
	case KEY_HOME:
	case 'g':
		move(t, v, -(1L << 30));
		return true;
	case KEY_END:
	case 'G':
		move(t, v, 1L << 30);
		return true;
	case KEY_LEFT:
		t->aside -= t->aside > 0;
		return true;
	case KEY_RIGHT:
		t->aside += t->aside < COLUMNS_MAX + SCROLLED_MAX;
		return true;
	}
	return false;
}

static bool press_view(struct tui *t, const struct view *v, uint32_t key)
{
	switch (key) {
	case KEY_TAB:
		set_tab(t, t->tab + 1);
		return true;
	case KEY_BACK_TAB:
		set_tab(t, t->tab + nr_tui_tabs - 1);
		return true;
	case KEY_ESCAPE:
		leave(t);
		return true;
	case '/':
		if (is_list(t)) {
			memcpy(t->typed, t->filter, sizeof(t->typed));
			memcpy(t->filter_before, t->filter, sizeof(t->typed));
			t->asks = ASKS_FILTER;
		}
		return true;
	case 'f':
		if (t->where == TUI_TABLE && tui_tabs[t->tab].kind == TAB_TABLE) {
			t->typed[0] = 0;
			t->searched_from = t->at;
			t->asks = ASKS_SEARCH;
		}
		return true;
	case 'n':
		if (t->where == TUI_TABLE && tui_tabs[t->tab].kind == TAB_TABLE && t->search[0])
			find_row(t, v, t->at + 1);
		return true;
	case 'J':
		if (!t->timeline.end_ns)
			return false;
		t->typed[0] = 0;
		t->asks = ASKS_TIME;
		return true;
	case 'e':
		t->ended = !t->ended;
		t->at = t->top = 0;
		t->follows = false;
		return true;
	case 's':
	case 'S':
		sort_next(t, v, key == 's' ? 1 : -1);
		return true;
	case 'I':
		t->inverted = !t->inverted;
		return true;
	case 't':
		t->tree = (t->tree + 1) % NR_TREES;
		t->follows = true;
		return true;
	case ' ':
		t->paused = !t->paused;
		return true;
	case 'c':
		t->commands = !t->commands;
		return true;
	case 'L':
		t->theme = (t->theme + 1) % NR_THEMES;
		snprintf(t->say, sizeof(t->say), "%s",
			 t->theme == THEME_DARK	   ? "colours for a dark background"
			 : t->theme == THEME_LIGHT ? "colours for a light background"
						   : "no colours");
		return true;
	case 'o':
		tui_open_columns(t, v);
		return true;
	case 'C':
		trends_clear(&t->trends);
		snprintf(t->say, sizeof(t->say), "trends begin anew");
		return true;
	case '?':
	case 'h':
		if (t->where == TUI_HELP) {
			leave(t);
			return true;
		}
		t->back_from_help = t->where;
		t->where = TUI_HELP;
		t->scroll = 0;
		return true;
	}
	if (key >= '1' && key < '1' + nr_tui_tabs) {
		set_tab(t, key - '1');
		return true;
	}
	return false;
}

enum tui_action tui_press(struct tui *t, const struct view *given, uint32_t key)
{
	struct view v = tui_view(t, given);

	if (key == KEY_NONE || key == KEY_UNKNOWN)
		return TUI_DRAW;
	t->say[0] = 0;
	if (key == KEY_MOUSE)
		return on_mouse(t, &v);
	if (t->asks)
		return answer(t, &v, key);
	if (t->where == TUI_COLUMNS && tui_press_columns(t, &v, key))
		return TUI_DRAW;
	if (press_moves(t, &v, key) || press_view(t, &v, key) || press_sort(t, &v, key))
		return TUI_DRAW;
	if (is_list(t))
		/* the process at the cursor may have changed since the last frame */
		move(t, &v, 0);
	switch (key) {
	case KEY_ENTER:
		return enter(t);
	case 'd':
		if (t->where == TUI_DIAGNOSIS || t->where == TUI_HELP)
			return TUI_DRAW;
		t->follows = true;
		return open_page(t, TUI_DIAGNOSIS);
	case 'm':
		if (t->where == TUI_MEMORY || t->where == TUI_HELP)
			return TUI_DRAW;
		t->follows = true;
		return open_page(t, TUI_MEMORY);
	case 'w':
		if (t->writes)
			return TUI_RECORD;
		snprintf(t->say, sizeof(t->say), "this is one already");
		return TUI_DRAW;
	case '+':
	case '=':
		return TUI_FASTER;
	case '-':
		return TUI_SLOWER;
	case 'q':
	case 'Q':
		return TUI_QUIT;
	}
	return TUI_OTHER;
}
