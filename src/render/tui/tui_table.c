// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws tables of the live view: columns, which come from the table of fields, and cells. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/units.h"
#include "model/resources.h"
#include "render/text/text.h"
#include "render/tui/tui_parts.h"

#define NAME_COLUMNS	   24 /* minimum width of the column PROCESS */
#define USER_COLUMNS	   9
#define USER_FROM	   100 /* minimum width of a screen with the column USER */
#define TREE_COLUMNS	   12  /* additional columns for the process name in the tree */
#define END_COLUMNS	   26  /* additional columns for how a process ended */
#define LONG_BAR_FROM	   150
#define CONTAINER_ID_LEAST 32 /* minimum number of hex digits of a container id */
#define SPARK_COLUMNS	   14

const struct tab tui_tabs[] = {
	{"Faults", TAB_TABLE, "faults", -1},
	{"Maps", TAB_TABLE, "maps", RESOURCE_MAPS},
	{"FDs", TAB_TABLE, "fds", RESOURCE_FDS},
	{"Memory", TAB_TABLE, NULL, -1, "memory.rss_bytes"},
	{"Kernel", TAB_TEXT, NULL, -1},
	{"Findings", TAB_FINDINGS, NULL, -1},
};
const size_t nr_tui_tabs = sizeof(tui_tabs) / sizeof(tui_tabs[0]);

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

void tui_columns(const struct tui *t, const struct view *v, struct columns *ret)
{
	tui_columns_of(&tui_tabs[t->tab], v, ret);
}

void tui_columns_of(const struct tab *tab, const struct view *v, struct columns *ret)
{
	const struct field *f;

	ret->n = 1;
	ret->c[0] = (struct column){.cell = CELL_PID, .title = "PID", .width = 8};
	if (v->width >= USER_FROM)
		ret->c[ret->n++] =
			(struct column){.cell = CELL_USER, .title = "USER", .width = USER_COLUMNS};
	for (int nth = 1; (f = find_lead(tab, nth)); nth++)
		if (has_measurement(v, f))
			add_lead(ret, v, tab, f);
	for (size_t i = 0; i < nr_fields && tab->kind == TAB_TABLE; i++)
		if (is_of(tab, &fields[i]) && has_measurement(v, &fields[i]) &&
		    !has_field(ret, &fields[i]))
			add_column(ret, v, tab, &fields[i], CELL_FIELD);
	ret->c[ret->n++] = (struct column){.cell = CELL_NAME, .title = "PROCESS"};
}

double tui_share(const struct view *v, const struct subject *s, enum resource_id of)
{
	struct use u;

	return resource_use(v->m, s, of, &u) && use_is_bounded(&u) ? (double)u.value / u.limit : -1;
}

/* Returns a number for sorting: a double holds six bytes exactly, so the first six bytes. */
static double text_value(const char *text)
{
	uint64_t n = 0;

	for (int i = 0; i < 6 && text[i]; i++)
		n |= (uint64_t)tolower((unsigned char)text[i]) << (40 - 8 * i);
	return n;
}

double tui_value(const struct view *v, const struct subject *s, const struct column *c)
{
	struct forecast f;
	uint64_t n;

	switch (c->cell) {
	case CELL_FIELD:
		if (!field_get(v->m, s, c->f, &n))
			return -1;
		return c->f->type == FIELD_COUNTER ? field_delta(v->m, s, c->f) : n;
	case CELL_BAR:
		return tui_share(v, s, c->of);
	case CELL_FULL:
		f = resource_forecast(v->m, s, c->of);
		return f.known ? -f.seconds : -1e18;
	case CELL_PID:
		return -(double)s->id.pid;
	case CELL_USER:
		return s->user ? -text_value(s->user) : -1e18 - s->now.g.uid;
	case CELL_NAME:
		return -text_value(s->now.g.comm);
	case CELL_SPARK:
		break;
	}
	return 0;
}

/* Appends a value. For a counter, `n` is its increase in the interval. */
static void put_amount(struct buf *b, const struct view *v, const struct field *f, double n)
{
	double seconds = model_window_seconds(v->m);

	if (f->type == FIELD_COUNTER)
		n = seconds > 0 ? n / seconds : 0;
	if (n > 0)
		buf_puts(b, as_field_figure(f, n).s);
	else
		buf_putc(b, '0'); /* a value of 0 is written without a unit */
}

static void put_field(struct buf *b, const struct view *v, const struct subject *s,
		      const struct field *f)
{
	uint64_t n;

	if (!field_get(v->m, s, f, &n))
		buf_putc(b, '-');
	else
		put_amount(b, v, f, f->type == FIELD_COUNTER ? (double)field_delta(v->m, s, f) : n);
}

/*
 * Returns the value of a cgroup in a column: the sum over its processes, or for a percentage the
 * highest of them. Returns -1 if the value is not known.
 */
static double value_below(const struct view *v, const struct rows *r, const struct row *g,
			  const struct column *c)
{
	double sum = -1;

	for (const struct row *one = g + 1; one <= g + g->below; one++) {
		double n = one->s ? tui_value(v, one->s, c) : -1;

		if (c->cell == CELL_FIELD && sum >= 0 && n >= 0)
			sum += n;
		else if (n > sum)
			sum = n;
	}
	return sum;
}

enum style share_style(double share)
{
	return share >= 0.95  ? STYLE_CRITICAL
	       : share >= 0.8 ? STYLE_WARNING
	       : share >= 0.5 ? STYLE_ACCENT
			      : STYLE_GOOD;
}

static void write_bar(struct line *l, double share, const struct column *c)
{
	int cells = c->cells;
	char percent[16];

	if (share < 0) {
		line_cell(l, "-", c->width, true);
		return;
	}
	snprintf(percent, sizeof(percent), share < 9.995 ? "%.1f%%" : "%.0f%%", 100 * share);
	if (!cells) {
		if (share >= 0.5)
			line_style(l, share_style(share));
		line_cell(l, percent, c->width, true);
	} else {
		line_printf(l, "[");
		line_style(l, share_style(share));
		line_bar(l, share, cells);
		line_style(l, STYLE_PLAIN);
		line_printf(l, "] ");
		if (share >= 0.8)
			line_style(l, share_style(share));
		line_cell(l, percent, c->width - cells - 3, true);
	}
	line_style(l, STYLE_PLAIN);
}

void tui_spark(const struct tui *t, struct line *l, const struct process_key *of,
	       const struct field *f, int cells, double high)
{
	double v[TREND_SAMPLES], most = 0;
	int seen;

	cells = cells > TREND_SAMPLES ? TREND_SAMPLES : cells < 0 ? 0 : cells;
	seen = trends_read(&t->trends, of, f, v, cells);
	for (int i = 0; i < cells; i++)
		most = v[i] > most ? v[i] : most;
	buf_repeat(&l->b, " ", cells - seen);
	line_style(l, STYLE_ACCENT);
	line_spark(l, v + cells - seen, seen, 0, high > 0 ? high : most);
	line_style(l, STYLE_PLAIN);
}

/*
 * Returns the highest value in the trends of the visible rows: the trends of a column have one
 * scale, so that the rows can be compared.
 */
static double highest_trend(const struct tui *t, const struct rows *r, const struct column *c,
			    size_t height)
{
	double v[TREND_SAMPLES], most = 0;

	for (size_t i = t->top; i < r->n && i < t->top + height; i++) {
		const struct row *row = &r->all[r->shown[i]];

		if (!row->s)
			continue;
		trends_read(&t->trends, &row->s->id, c->f, v, c->width);
		for (int k = 0; k < c->width; k++)
			most = v[k] > most ? v[k] : most;
	}
	return most;
}

static void write_group(struct line *l, const struct view *v, const struct row *g)
{
	char *name = strndup(g->path + g->name, g->len - g->name);
	size_t n = 0;

	if (name && strspn(name, "0123456789abcdef") >= CONTAINER_ID_LEAST)
		name[SHORT_ID] = 0;
	for (const struct row *one = g + 1; one <= g + g->below; one++)
		n += one->s != NULL;
	if (v->unicode)
		line_printf(l, g->folded ? "\u25b8 " : "\u25be ");
	else
		line_printf(l, g->folded ? "+ " : "- ");
	line_style(l, STYLE_BOLD);
	l->b.failed |= !name;
	line_printf(l, "%s", name && name[0] ? name : "/");
	line_style(l, STYLE_PLAIN);
	line_printf(l, " (%zu)", n);
	free(name);
}

static void write_user(struct line *l, const struct row *row, int width)
{
	struct buf user = {}, safe = {};

	if (row->s)
		tui_put_user(&user, row->s);
	buf_safe(&safe, user.s ? user.s : "", l->v->unicode);
	line_cell(l, safe.s ? safe.s : "", width, false);
	buf_end_part(&l->b, &user);
	buf_end_part(&l->b, &safe);
}

static void write_cell(const struct tui *t, struct line *l, const struct rows *r,
		       const struct row *row, const struct column *c)
{
	const struct view *v = l->v;
	struct buf cell = {};
	struct forecast f;
	uint64_t known;

	switch (c->cell) {
	case CELL_FIELD:
		if (row->s)
			put_field(&cell, v, row->s, c->f);
		else if (value_below(v, r, row, c) < 0)
			buf_putc(&cell, '-');
		else
			put_amount(&cell, v, c->f, value_below(v, r, row, c));
		break;
	case CELL_BAR:
		write_bar(l, row->s ? tui_share(v, row->s, c->of) : value_below(v, r, row, c), c);
		return;
	case CELL_SPARK:
		if (row->s && field_get(v->m, row->s, c->f, &known))
			tui_spark(t, l, &row->s->id, c->f, c->width, c->high);
		else
			line_cell(l, "", c->width, true);
		return;
	case CELL_FULL:
		f = row->s ? resource_forecast(v->m, row->s, c->of) : (struct forecast){};
		if (f.known)
			put_span(&cell, f.seconds);
		else
			buf_putc(&cell, '-');
		break;
	case CELL_PID:
		if (row->s)
			buf_printf(&cell, "%u", row->s->id.pid);
		break;
	case CELL_USER:
		write_user(l, row, c->width);
		return;
	case CELL_NAME:
		break;
	}
	if (cell.s && (!strcmp(cell.s, "0") || !strcmp(cell.s, "-")))
		line_style(l, STYLE_DIM);
	line_cell(l, cell.s ? cell.s : "", c->width, true);
	line_style(l, STYLE_PLAIN);
	buf_end_part(&l->b, &cell);
}

/* Returns whether a column is always visible. */
static bool is_fixed(const struct column *c)
{
	return c->cell == CELL_PID || c->cell == CELL_USER || c->cell == CELL_NAME;
}

/* Returns the number of key presses by which command lines are scrolled. */
static size_t scrolled(const struct tui *t, const struct columns *c)
{
	size_t columns = 0;

	for (size_t i = 0; i < c->n; i++)
		columns += !is_fixed(&c->c[i]);
	return t->aside > columns ? t->aside - columns : 0;
}

/*
 * Chooses the columns that fit on the screen. Columns to the left of the scroll position are
 * skipped.
 */
void tui_visible(const struct tui *t, const struct view *v, const struct columns *c,
		 bool *ret_shown)
{
	int name = t->commands ? v->width / 2 : v->width < TUI_WIDE ? NAME_COLUMNS : v->width / 4;
	int room =
		v->width - name - 1 - (t->tree ? TREE_COLUMNS : 0) - (t->ended ? END_COLUMNS : 0);
	size_t skip = t->aside;

	for (size_t i = 0; i < c->n; i++) {
		const struct column *one = &c->c[i];

		ret_shown[i] = is_fixed(one);
		if (is_fixed(one) && one->cell != CELL_NAME)
			room -= one->width + 1;
		if (ret_shown[i])
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

void tui_scroll_to(struct tui *t, const struct view *v, const struct columns *c, size_t i)
{
	bool shown[COLUMNS_MAX + 1];

	tui_visible(t, v, c, shown);
	if (shown[i])
		return;
	for (t->aside = 0; t->aside < c->n; t->aside++) {
		tui_visible(t, v, c, shown);
		if (shown[i])
			return;
	}
	t->aside = 0; /* the screen is too narrow for the column */
}

/* Writes the title of a trend with the value at the top of its scale: "TREND≤13,713". */
static void write_scale(struct line *l, const struct column *c)
{
	char title[48];

	snprintf(title, sizeof(title), "%s%s%s", c->title,
		 l->v->unicode ? "\u2264" : "<=", as_field_figure(c->f, c->high).s);
	line_style(l, STYLE_DIM);
	line_cell(l, c->high > 0 && text_columns(title) <= c->width ? title : c->title, c->width,
		  false);
	line_style(l, STYLE_PLAIN);
	line_printf(l, " ");
}

static void write_titles(const struct tui *t, const struct view *v, struct buf *b,
			 const struct columns *c, const bool *shown)
{
	struct line l = {.v = v};
	const char *mark =
		t->inverted ? (v->unicode ? "\u25b4" : "^") : (v->unicode ? "\u25be" : "v");
	char title[sizeof(c->c[0].title) + 4];

	for (size_t i = 0; i < c->n; i++) {
		bool sorted = tui_is_sort_column(t, c, i);
		bool right = c->c[i].cell != CELL_NAME && c->c[i].cell != CELL_USER;

		if (!shown[i])
			continue;
		if (c->c[i].cell == CELL_SPARK) {
			write_scale(&l, &c->c[i]);
			continue;
		}
		line_style(&l, sorted ? STYLE_ACCENT : STYLE_DIM);
		/* the mark is on the side where it does not move the title out of its column */
		snprintf(title, sizeof(title), "%s%s%s", sorted && right ? mark : "", c->c[i].title,
			 sorted && !right ? mark : "");
		line_cell(&l, title, c->c[i].cell == CELL_NAME ? NAME_COLUMNS : c->c[i].width,
			  right);
		line_printf(&l, " ");
	}
	line_end(&l, b, STYLE_PLAIN);
}

static void write_row(const struct tui *t, const struct view *v, struct buf *b,
		      const struct rows *r, size_t at, const struct columns *c, const bool *shown)
{
	const struct row *row = &r->all[r->shown[at]];
	bool selected = at == t->at, ended = row->s && row->s->final && !t->ended;
	struct line l = {.v = v, .flat = selected || ended};

	for (size_t i = 0; i + 1 < c->n; i++) {
		if (!shown[i])
			continue;
		write_cell(t, &l, r, row, &c->c[i]);
		line_printf(&l, " ");
	}
	buf_repeat(&l.b, " ", 2 * row->depth);
	if (row->s)
		tui_put_who(t, &l, row, scrolled(t, c));
	else
		write_group(&l, v, row);
	line_end(&l, b, selected ? STYLE_SELECTED : ended ? STYLE_DIM : STYLE_PLAIN);
}

static void write_rows(const struct tui *t, const struct view *v, struct buf *b,
		       const struct rows *r, struct columns *c, const bool *shown, size_t height)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].cell == CELL_SPARK && shown[i])
			c->c[i].high = highest_trend(t, r, &c->c[i], height);
	write_titles(t, v, b, c, shown);
	for (size_t i = t->top; i < r->n && i < t->top + height; i++)
		write_row(t, v, b, r, i, c, shown);
	if (!r->n)
		buf_printf(b, "  %s\n",
			   t->filter[0] ? "no process matches the filter (/)"
			   : t->ended	? "no process has ended (e: back)"
					: "no process is alive");
}

void tui_draw_table(struct tui *t, const struct view *v, struct buf *b, size_t height)
{
	struct columns c;
	bool shown[COLUMNS_MAX + 1];
	struct rows r;
	size_t from = b->len;

	tui_columns(t, v, &c);
	tui_visible(t, v, &c, shown);
	if (tui_rows(t, v, &r)) {
		buf_puts(b, "  out of memory\n");
	} else if (height) {
		tui_place(t, &r, height - 1);
		write_rows(t, v, b, &r, &c, shown, height - 1);
	}
	rows_free(&r);
	fill_lines(b, from, height);
}
