// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws tables of the live view: titles, rows and their cells. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/resources.h"
#include "render/text/text.h"
#include "render/tui/tui_parts.h"

#define CONTAINER_ID_LEAST 32 /* minimum number of hex digits of a container id */

const struct tab tui_tabs[] = {
	{"Faults", TAB_TABLE, "faults", -1},
	{"Maps", TAB_TABLE, "maps", RESOURCE_MAPS},
	{"FDs", TAB_TABLE, "fds", RESOURCE_FDS},
	{"Memory", TAB_TABLE, NULL, -1, "memory.rss_bytes"},
	{"Kernel", TAB_TEXT, NULL, -1},
	{"Findings", TAB_FINDINGS, NULL, -1},
};
const size_t nr_tui_tabs = sizeof(tui_tabs) / sizeof(tui_tabs[0]);

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

/* Writes the title of a trend with the value at the top of its scale: "TREND≤13,713". */
static void write_scale(struct line *l, const struct column *c)
{
	char title[80];

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
		tui_put_who(t, &l, row, tui_scrolled(t, c));
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
