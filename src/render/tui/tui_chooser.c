// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page on which the user chooses the columns of a tab, and their order. */
#include <stdio.h>
#include <string.h>

#include "render/tui/tui_parts.h"

#define TITLE_COLUMNS 16

static void add_cell(struct tui_choice *c, struct tui_cell cell)
{
	if (c->n < COLUMNS_MAX && cell.cell != CELL_PID && cell.cell != CELL_NAME &&
	    !tui_choice_has(c, &cell))
		c->cell[c->n++] = cell;
}

/* Lists the columns of the tab that are shown, then those that the tab can have too. */
static void fill_choice(struct tui *t, const struct view *v)
{
	struct tui_choice *c = &t->choice[t->tab];
	struct tui_cell cell;
	struct columns shown;

	tui_columns(t, v, &shown);
	if (!c->made)
		c->n = 0;
	for (size_t i = 0; i < shown.n && !c->made; i++)
		add_cell(c, (struct tui_cell){shown.c[i].cell, shown.c[i].f, false});
	for (size_t i = 0; tui_cell_at(i, &cell); i++) {
		cell.hidden = true;
		add_cell(c, cell);
	}
}

void tui_open_columns(struct tui *t, const struct view *v)
{
	if (t->where != TUI_TABLE || tui_tabs[t->tab].kind != TAB_TABLE) {
		snprintf(t->say, sizeof(t->say), "o chooses the columns of a table of processes");
		return;
	}
	fill_choice(t, v);
	t->where = TUI_COLUMNS;
	t->column_at = t->scroll = 0;
}

/* If rows are no longer sorted by a column that is shown, the tab has its own order. */
static void check_order(struct tui *t, const struct view *v)
{
	struct columns c;

	tui_columns(t, v, &c);
	if (!t->sort[t->tab].chosen || tui_sorted_by(t, &c) >= 0)
		return;
	t->sort[t->tab] = (struct tui_sort){};
	snprintf(t->say, sizeof(t->say),
		 "rows are no longer sorted by this column, which is hidden");
}

static void toggle(struct tui *t, const struct view *v)
{
	struct tui_choice *c = &t->choice[t->tab];

	if (t->column_at >= c->n)
		return;
	c->cell[t->column_at].hidden ^= true;
	c->made = true;
	check_order(t, v);
}

/* Moves the column at the cursor by one place, and the cursor with it. */
static void move_column(struct tui *t, int by)
{
	struct tui_choice *c = &t->choice[t->tab];
	size_t to = t->column_at + by;
	struct tui_cell cell;

	if (t->column_at >= c->n || to >= c->n)
		return;
	cell = c->cell[t->column_at];
	c->cell[t->column_at] = c->cell[to];
	c->cell[to] = cell;
	c->made = true;
	t->column_at = to;
}

void tui_move_in_columns(struct tui *t, long by)
{
	size_t n = t->choice[t->tab].n;

	if (by < 0)
		t->column_at = (size_t)-by > t->column_at ? 0 : t->column_at + by;
	else
		t->column_at += by;
	if (t->column_at >= n)
		t->column_at = n ? n - 1 : 0;
}

void tui_click_column(struct tui *t, const struct view *v, size_t line)
{
	size_t before = t->column_at;

	if (t->scroll + line >= t->choice[t->tab].n)
		return;
	t->column_at = t->scroll + line;
	if (t->column_at == before)
		toggle(t, v);
}

bool tui_press_columns(struct tui *t, const struct view *v, uint32_t key)
{
	size_t room = tui_room(t, v), page = room > 3 ? room - 2 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		tui_move_in_columns(t, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		tui_move_in_columns(t, 1);
		return true;
	case KEY_PAGE_UP:
		tui_move_in_columns(t, -(long)page);
		return true;
	case KEY_PAGE_DOWN:
		tui_move_in_columns(t, page);
		return true;
	case KEY_HOME:
	case 'g':
		tui_move_in_columns(t, -COLUMNS_MAX);
		return true;
	case KEY_END:
	case 'G':
		tui_move_in_columns(t, COLUMNS_MAX);
		return true;
	case KEY_LEFT:
		move_column(t, -1);
		return true;
	case KEY_RIGHT:
		move_column(t, 1);
		return true;
	case ' ':
		toggle(t, v);
		return true;
	case 'R':
		t->choice[t->tab].made = false;
		fill_choice(t, v);
		check_order(t, v);
		return true;
	case 'o':
	case KEY_ENTER:
		t->where = TUI_TABLE;
		return true;
	}
	return false;
}

static void write_choice(const struct tui *t, const struct view *v, struct buf *b, size_t at)
{
	const struct tui_cell *cell = &t->choice[t->tab].cell[at];
	bool selected = at == t->column_at;
	struct line l = {.v = v, .flat = selected || cell->hidden};
	struct columns made = {};

	tui_add_cell(&made, v, t->tab, cell);
	line_printf(&l, " [%s] ", cell->hidden ? " " : "x");
	line_style(&l, STYLE_BOLD);
	line_cell(&l, made.c[0].title, TITLE_COLUMNS, false);
	line_style(&l, STYLE_PLAIN);
	line_printf(&l, " %s", tui_is_measured(v, cell) ? "" : "(not measured here) ");
	tui_put_meaning(&l, &made.c[0]);
	line_end(&l, b,
		 selected       ? STYLE_SELECTED
		 : cell->hidden ? STYLE_DIM
				: STYLE_PLAIN);
}

void tui_draw_columns(struct tui *t, const struct view *v, struct buf *b, size_t height)
{
	size_t n = t->choice[t->tab].n, from = b->len;

	if (t->column_at < t->scroll)
		t->scroll = t->column_at;
	if (height && t->column_at >= t->scroll + height)
		t->scroll = t->column_at - height + 1;
	for (size_t i = t->scroll; i < n && i < t->scroll + height; i++)
		write_choice(t, v, b, i);
	fill_lines(b, from, height);
}
