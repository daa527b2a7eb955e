// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the help of the live view: its keys, and each column by its title. */
#include <stdio.h>

#include "render/tui/tui_parts.h"

#define HELP_COLUMNS 27

void tui_put_meaning(struct line *l, const struct column *c)
{
	char name[48];

	switch (c->cell) {
	case CELL_PID:
		line_printf(l, "process id");
		break;
	case CELL_USER:
		line_printf(l, "user of the process");
		break;
	case CELL_NAME:
		line_printf(l, "name, ids of findings, unit or container, and arguments");
		break;
	case CELL_SPARK:
		line_printf(l, "%s over the last scans; all rows have the same scale",
			    field_name(c->f, name, sizeof(name)));
		break;
	case CELL_BAR:
		line_printf(l, "used share of %s", resources[c->of].limit);
		break;
	case CELL_FULL:
		line_printf(l, "forecast: time until %s is reached", resources[c->of].limit);
		break;
	case CELL_FIELD:
		line_printf(l, "%s", c->f->help);
		break;
	}
}

static void write_entry(const struct view *v, struct buf *b, const char *key, struct line *l)
{
	struct line whole = {.v = v};

	line_printf(&whole, "  ");
	line_style(&whole, STYLE_BOLD);
	line_cell(&whole, key, HELP_COLUMNS - 2, false);
	line_style(&whole, STYLE_PLAIN);
	buf_puts(&whole.b, l->b.s ? l->b.s : "");
	line_wrap_at(&whole, b, STYLE_PLAIN, HELP_COLUMNS);
	buf_end_part(b, &l->b);
}

static void write_columns(const struct view *v, struct buf *b, const struct tab *tab)
{
	struct columns c;
	char title[48];

	snprintf(title, sizeof(title), "Columns of the tab %s", tab->name);
	tui_heading(b, v, title);
	tui_columns_of(tab, v, &c);
	for (size_t i = 0; i < c.n; i++) {
		struct line l = {.v = v};

		tui_put_meaning(&l, &c.c[i]);
		write_entry(v, b, c.c[i].title, &l);
	}
}

void tui_write_help(const struct tui *t, const struct view *v, struct buf *b)
{
	tui_heading(b, v, "Keys");
	for (size_t i = 0; i < nr_tui_help; i++) {
		struct line l = {.v = v};

		line_printf(&l, "%s", tui_help[i].what);
		write_entry(v, b, tui_help[i].keys, &l);
	}
	if (tui_tabs[t->tab].kind == TAB_TABLE)
		write_columns(v, b, &tui_tabs[t->tab]);
	for (size_t i = 0; i < nr_tui_tabs; i++)
		if (i != t->tab && tui_tabs[i].kind == TAB_TABLE)
			write_columns(v, b, &tui_tabs[i]);
}
