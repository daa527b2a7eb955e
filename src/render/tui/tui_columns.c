// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Columns of the live view's tables: those that a tab has by itself, which come from the table of
 * fields, those that the user chose, and those that fit on the screen.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "render/tui/tui_parts.h"

#define USER_COLUMNS  9
#define USER_FROM     100 /* minimum width of a screen with the column USER */
#define TREE_COLUMNS  12  /* additional columns for the process name in the tree */
#define END_COLUMNS   26  /* additional columns for how a process ended */
#define LONG_BAR_FROM 150
#define SPARK_COLUMNS 14

static bool has_group(const struct tab *tab, const char *group)
{
	size_t len = strlen(group);

	for (const char *at = tab->groups; at && *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == len && !strncmp(at, group, n))
			return true;
		at += n;
	}
	return false;
}

/*
 * Returns whether a tab shows a field. The tab without a list of groups shows all fields that no
 * other tab shows.
 */
static bool is_of(const struct tab *tab, const struct field *f)
{
	if (tab->groups)
		return has_group(tab, f->group);
	for (size_t i = 0; i < nr_tui_tabs; i++)
		if (has_group(&tui_tabs[i], f->group))
			return false;
	return true;
}

/* Returns whether this machine can measure a field of any process. */
static bool has_measurement(const struct view *v, const struct field *f)
{
	return is_available(v->m, f->hook, f->lacks);
}

static int width_of(const struct field *f)
{
	return f->unit == UNIT_BYTES ? 8 : f->unit == UNIT_LIMIT ? 9 : 7;
}

static bool is_overview(const struct tab *tab)
{
	return tab == tui_tabs;
}

static int bar_cells(const struct view *v, const struct tab *tab)
{
	if (is_overview(tab)) /* its other columns matter more than long bars */
		return v->width < LONG_BAR_FROM ? 0 : 8;
	return v->width < TUI_WIDE ? 0 : v->width < LONG_BAR_FROM ? 8 : 16;
}

static void add_column(struct columns *c, const struct view *v, const struct tab *tab,
		       const struct field *f, enum cell cell)
{
	struct column *one = &c->c[c->n];

	if (c->n + 2 > COLUMNS_MAX)
		return;
	*one = (struct column){.cell = cell, .f = f, .of = f->resource, .width = 9};
	switch (cell) {
	case CELL_SPARK:
		array_copy(one->title, sizeof(one->title), "TREND");
		one->width = v->width < TUI_WIDE ? SPARK_COLUMNS : v->width / 8;
		if (one->width > TREND_SAMPLES)
			one->width = TREND_SAMPLES;
		break;
	case CELL_BAR:
		if (is_overview(tab))
			snprintf(one->title, sizeof(one->title), "%s%%", f->column);
		else
			array_copy(one->title, sizeof(one->title),
				   resources[f->resource].scope == OF_CGROUP ? "CGROUP%"
									     : "OF LIMIT");
		one->cells = bar_cells(v, tab);
		one->width = 6 + (one->cells ? one->cells + 3 : 0);
		break;
	case CELL_FULL:
		array_copy(one->title, sizeof(one->title), "FULL IN");
		break;
	default:
		field_column_title(f, one->title, sizeof(one->title));
		one->width = width_of(f);
	}
	/* the mark of the sort column needs a cell */
	if (one->width <= (int)strlen(one->title))
		one->width = strlen(one->title) + 1;
	c->n++;
}

static bool has_field(const struct columns *c, const struct field *f)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].f == f && c->c[i].cell == CELL_FIELD)
			return true;
	return false;
}

static const struct field_lead *lead_of(const struct tab *tab, const struct field *f)
{
	return is_overview(tab) ? &f->overview : &f->lead;
}

static const struct field *find_lead(const struct tab *tab, int nth)
{
	for (size_t i = 0; i < nr_fields && tab->kind == TAB_TABLE; i++)
		if (lead_of(tab, &fields[i])->nth == nth &&
		    (is_overview(tab) || is_of(tab, &fields[i])))
			return &fields[i];
	return NULL;
}

static void add_lead(struct columns *c, const struct view *v, const struct tab *tab,
		     const struct field *f)
{
	unsigned int cells = lead_of(tab, f)->cells;

	/* limits of cgroups are read only if targets are watched, not all processes */
	if (resources[f->resource].scope == OF_CGROUP && model_watches_all(v->m))
		cells &= ~(LEAD_SHARE | LEAD_FORECAST);
	if (cells & LEAD_VALUE)
		add_column(c, v, tab, f, CELL_FIELD);
	if (cells & LEAD_SHARE)
		add_column(c, v, tab, f, CELL_BAR);
	if (cells & LEAD_TREND)
		add_column(c, v, tab, f, CELL_SPARK);
	if (cells & LEAD_FORECAST)
		add_column(c, v, tab, f, CELL_FULL);
}

static void begin_columns(struct columns *c)
{
	c->n = 1;
	c->c[0] = (struct column){.cell = CELL_PID, .title = "PID", .width = 8};
}

static void add_user(struct columns *c)
{
	c->c[c->n++] = (struct column){.cell = CELL_USER, .title = "USER", .width = USER_COLUMNS};
}

static void end_columns(struct columns *c)
{
	c->c[c->n++] = (struct column){.cell = CELL_NAME, .title = "PROCESS"};
}

void tui_columns_of(const struct tab *tab, const struct view *v, struct columns *ret)
{
	const struct field *f;

	begin_columns(ret);
	if (v->width >= USER_FROM)
		add_user(ret);
	for (int nth = 1; (f = find_lead(tab, nth)); nth++)
		if (has_measurement(v, f))
			add_lead(ret, v, tab, f);
	for (size_t i = 0; i < nr_fields && tab->kind == TAB_TABLE; i++)
		if (is_of(tab, &fields[i]) && has_measurement(v, &fields[i]) &&
		    !has_field(ret, &fields[i]))
			add_column(ret, v, tab, &fields[i], CELL_FIELD);
	end_columns(ret);
}

void tui_columns_at(const struct tui *t, size_t tab, const struct view *v, struct columns *ret)
{
	const struct tui_choice *choice = &t->choice[tab];

	if (!choice->made) {
		tui_columns_of(&tui_tabs[tab], v, ret);
		return;
	}
	begin_columns(ret);
	for (size_t i = 0; i < choice->n; i++) {
		const struct tui_cell *one = &choice->cell[i];

		if (!one->hidden && tui_is_measured(v, one))
			tui_add_cell(ret, v, tab, one);
	}
	end_columns(ret);
}

bool tui_is_measured(const struct view *v, const struct tui_cell *cell)
{
	return !cell->f || has_measurement(v, cell->f);
}

void tui_add_cell(struct columns *c, const struct view *v, size_t tab, const struct tui_cell *cell)
{
	if (cell->f)
		add_column(c, v, &tui_tabs[tab], cell->f, cell->cell);
	else
		add_user(c);
}

void tui_columns(const struct tui *t, const struct view *v, struct columns *ret)
{
	tui_columns_at(t, t->tab, v, ret);
}

/* Names of cells that show a field in another way than as its value. */
static const struct {
	enum cell cell;
	unsigned int lead;
	const char *suffix;
} cell_names[] = {
	{CELL_FIELD, LEAD_VALUE, ""},
	{CELL_BAR, LEAD_SHARE, ".share"},
	{CELL_SPARK, LEAD_TREND, ".trend"},
	{CELL_FULL, LEAD_FORECAST, ".full_in"},
};
#define NR_CELL_NAMES (sizeof(cell_names) / sizeof(cell_names[0]))

static bool has_cell(const struct field *f, size_t kind)
{
	return !kind || ((f->lead.cells | f->overview.cells) & cell_names[kind].lead);
}

void tui_put_cell_name(struct buf *b, const struct tui_cell *cell)
{
	char name[64];

	if (cell->cell == CELL_PID || cell->cell == CELL_USER || cell->cell == CELL_NAME)
		buf_puts(b, cell->cell == CELL_PID    ? "pid"
			    : cell->cell == CELL_USER ? "user"
						      : "process");
	for (size_t i = 0; cell->f && i < NR_CELL_NAMES; i++)
		if (cell_names[i].cell == cell->cell)
			buf_printf(b, "%s%s", field_name(cell->f, name, sizeof(name)),
				   cell_names[i].suffix);
}

bool tui_choice_has(const struct tui_choice *c, const struct tui_cell *cell)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->cell[i].cell == cell->cell && c->cell[i].f == cell->f)
			return true;
	return false;
}

bool tui_cell_find(const char *name, size_t len, struct tui_cell *ret)
{
	for (size_t at = 0; tui_cell_at(at, ret); at++) {
		char text[TUI_CELL_NAME];
		struct buf b = BUF_IN(text);

		tui_put_cell_name(&b, ret);
		if (b.len == len && !memcmp(text, name, len))
			return true;
	}
	return false;
}

bool tui_cell_at(size_t at, struct tui_cell *ret)
{
	static const enum cell others[] = {CELL_PID, CELL_USER, CELL_NAME};

	if (at < sizeof(others) / sizeof(others[0])) {
		*ret = (struct tui_cell){.cell = others[at]};
		return true;
	}
	at -= sizeof(others) / sizeof(others[0]);
	for (size_t i = 0; i < nr_fields; i++)
		for (size_t kind = 0; kind < NR_CELL_NAMES; kind++)
			if (has_cell(&fields[i], kind) && !at--) {
				*ret = (struct tui_cell){cell_names[kind].cell, &fields[i]};
				return true;
			}
	return false;
}

/*
 * Returns whether a column is visible whatever else is: who the process is, and the column by which
 * the rows are sorted.
 */
static bool is_fixed(const struct tui *t, const struct columns *c, size_t i)
{
	enum cell cell = c->c[i].cell;

	return cell == CELL_PID || cell == CELL_USER || cell == CELL_NAME ||
	       tui_is_sort_column(t, c, i);
}

size_t tui_scrolled(const struct tui *t, const struct columns *c)
{
	size_t columns = 0;

	for (size_t i = 0; i < c->n; i++)
		columns += !is_fixed(t, c, i);
	return t->aside > columns ? t->aside - columns : 0;
}

/* Columns to the left of the scroll position are skipped. */
void tui_visible(const struct tui *t, const struct view *v, const struct columns *c,
		 bool *ret_shown)
{
	int name = t->commands ? v->width / 2 : v->width < TUI_WIDE ? NAME_COLUMNS : v->width / 4;
	int room =
		v->width - name - 1 - (t->tree ? TREE_COLUMNS : 0) - (t->ended ? END_COLUMNS : 0);
	size_t skip = t->aside;

	for (size_t i = 0; i < c->n; i++) {
		const struct column *one = &c->c[i];
		bool fits = room > one->width || one->cell == CELL_PID || one->cell == CELL_USER;

		ret_shown[i] = is_fixed(t, c, i) && (fits || one->cell == CELL_NAME);
		if (ret_shown[i] && one->cell != CELL_NAME)
			room -= one->width + 1;
	}
	for (size_t i = 0; i < c->n; i++) {
		const struct column *one = &c->c[i];

		if (is_fixed(t, c, i))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		if (room < one->width + 1) {
			room = 0;
			continue;
		}
		room -= one->width + 1;
		ret_shown[i] = true;
	}
}
