// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/text/fleet_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/style.h"

#define NAME_LEAST  12 /* columns of a host, and of a workload */
#define NAME_MOST   48
#define NEAR	    0.80 /* of a limit: the alerts' thresholds */
#define VERY_NEAR   0.95
#define FRAME_LINES 2 /* the first line and the titles */

enum cell { CELL_COUNT, CELL_LIMIT, CELL_SHARE, CELL_RATE, CELL_TIME };

static double maps(const struct fleet_entry *e)
{
	return e->row->figure[FLEET_MAPS];
}

static double maps_limit(const struct fleet_entry *e)
{
	return e->host->maps_limit > 0 ? e->host->maps_limit : -1;
}

static double maps_share(const struct fleet_entry *e)
{
	return e->maps_share;
}

static double fds(const struct fleet_entry *e)
{
	return e->row->figure[FLEET_FDS];
}

static double fds_limit(const struct fleet_entry *e)
{
	return e->row->figure[FLEET_FDS_LIMIT];
}

static double fds_share(const struct fleet_entry *e)
{
	return e->fds_share;
}

static double majors(const struct fleet_entry *e)
{
	return e->majors_per_s;
}

static double stall(const struct fleet_entry *e)
{
	return e->stall_share;
}

#define WIDE 120 /* columns from which on shares are shown beside what they are of */

static const struct column {
	const char *title;
	int width;
	bool if_wide;
	enum cell cell;
	double (*get)(const struct fleet_entry *e); /* < 0: not known */
} columns[] = {
	{"MAPS", 8, false, CELL_COUNT, maps},	    {"LIMIT", 9, false, CELL_COUNT, maps_limit},
	{"MAP%", 6, true, CELL_SHARE, maps_share},  {"FDS", 7, false, CELL_COUNT, fds},
	{"LIMIT", 9, false, CELL_COUNT, fds_limit}, {"FD%", 6, true, CELL_SHARE, fds_share},
	{"MAJ/s", 8, false, CELL_RATE, majors},	    {"STALL/s", 8, false, CELL_TIME, stall},
};
#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static bool is_shown(const struct view *v, const struct column *c)
{
	return !c->if_wide || v->width >= WIDE;
}

static void put_cell(struct buf *b, const struct column *c, const struct fleet_entry *e)
{
	double value = c->get(e);

	if (value < 0)
		buf_putc(b, '-');
	else if (c->cell == CELL_SHARE)
		buf_printf(b, "%.1f", value < 10 ? 100 * value : 999.9);
	else if (c->cell == CELL_RATE)
		put_rate(b, value);
	else if (c->cell == CELL_TIME)
		put_duration(b, value < 1e9 ? value * 1e9 : 1e18);
	else
		put_count(b, value < 1e15 ? (uint64_t)value : (uint64_t)1e15);
}

static void put_name(struct line *l, const struct view *v, const char *name, int width)
{
	struct buf text = {};
	int columns;

	buf_safe(&text, name, v->unicode);
	columns = text_columns(text.s ? text.s : "");
	if (columns > width) {
		while (text.len && text_columns(text.s) > width - 1)
			text.s[--text.len] = 0;
		while (text.len && (text.s[text.len - 1] & 0x80) &&
		       text_columns(text.s) < width - 1)
			text.s[--text.len] = 0;
		buf_puts(&text, "~");
		columns = text_columns(text.s);
	}
	line_printf(l, "%s%*s", text.s ? text.s : "", columns < width ? width - columns : 0, "");
	buf_free(&text);
}

struct widths {
	int host, workload;
};

static int bounded(int n, int most)
{
	return n > most ? most : n;
}

/*
 * As wide as the longest, within what the figures leave: the host gets what workloads do not need
 * of that, and a third in any case.
 */
static struct widths widths_of(const struct view *v, const struct fleet_entry *e, size_t n)
{
	struct widths w = {NAME_LEAST, NAME_LEAST};
	int room = v->width - 1, third;

	for (size_t i = 0; i < NR_COLUMNS; i++)
		room -= is_shown(v, &columns[i]) ? columns[i].width + 1 : 0;
	if (room < 2 * NAME_LEAST)
		room = 2 * NAME_LEAST;
	for (size_t i = 0; i < n; i++) {
		int host = strlen(e[i].host->name), workload = strlen(e[i].row->workload);

		w.host = host > w.host ? host : w.host;
		w.workload = workload > w.workload ? workload : w.workload;
	}
	w.workload = bounded(w.workload, NAME_MOST);
	third = room / 3 > NAME_LEAST ? room / 3 : NAME_LEAST;
	w.host = bounded(w.host, room - w.workload > third ? room - w.workload : third);
	w.workload = bounded(w.workload, room - w.host);
	return w;
}

static enum style style_of(const struct fleet_entry *e)
{
	return e->pressure >= VERY_NEAR ? STYLE_CRITICAL
	       : e->pressure >= NEAR	? STYLE_WARNING
					: STYLE_PLAIN;
}

static void say_row(struct buf *b, const struct view *v, const struct widths *w,
		    const struct fleet_entry *e)
{
	struct line l = {.v = v};
	struct buf cell = {};

	put_name(&l, v, e->host->name, w->host);
	line_printf(&l, " ");
	put_name(&l, v, e->row->workload, w->workload);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!is_shown(v, &columns[i]))
			continue;
		buf_clear(&cell);
		put_cell(&cell, &columns[i], e);
		line_printf(&l, " %*s", columns[i].width, cell.s ? cell.s : "");
	}
	line_end(&l, b, style_of(e));
	buf_free(&cell);
}

static void say_titles(struct buf *b, const struct view *v, const struct widths *w)
{
	struct line l = {.v = v};

	put_name(&l, v, "HOST", w->host);
	line_printf(&l, " ");
	put_name(&l, v, "WORKLOAD", w->workload);
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (is_shown(v, &columns[i]))
			line_printf(&l, " %*s", columns[i].width, columns[i].title);
	line_end(&l, b, STYLE_DIM);
}

static void say_head(struct buf *b, const struct view *v, const struct fleet *f, size_t n,
		     double interval_s)
{
	struct line l = {.v = v};
	uint32_t down = 0;

	for (uint32_t i = 0; i < f->hosts; i++)
		down += f->host[i].why[0] != 0;
	line_printf(&l, "faultscope top  %u host%s", f->hosts, f->hosts == 1 ? "" : "s");
	if (down)
		line_printf(&l, ", %u down", down);
	line_printf(&l, "  %zu workload%s  every %gs", n, n == 1 ? "" : "s", interval_s);
	line_end(&l, b, STYLE_BOLD);
}

/* What is not in the table, or not wholly. */
static uint32_t say_troubles(struct buf *b, const struct view *v, const struct fleet *f)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < f->hosts; i++) {
		const struct fleet_host *h = &f->host[i];
		struct line l = {.v = v};

		if (!h->why[0] && !h->bad_lines && !h->lost)
			continue;
		line_safe(&l, h->name);
		if (h->why[0]) {
			line_printf(&l, ": ");
			line_safe(&l, h->why);
		}
		if (h->bad_lines)
			line_printf(&l, ": %llu lines are no samples",
				    (unsigned long long)h->bad_lines);
		if (h->lost)
			line_printf(&l, ": %llu samples of more than %d workloads",
				    (unsigned long long)h->lost, FLEET_ROWS_MAX);
		line_end(&l, b, h->why[0] ? STYLE_CRITICAL : STYLE_WARNING);
		lines++;
	}
	return lines;
}

/* Rows that fit on the screen beside what has to be said. */
static size_t rows_of(const struct view *v, size_t n, uint32_t taken)
{
	size_t most = v->top;

	if (v->height > 0) {
		size_t room = v->height > (int)(taken + FRAME_LINES)
				      ? v->height - taken - FRAME_LINES
				      : 1;

		most = room < most ? room : most;
	}
	return n < most ? n : most;
}

void fleet_text(struct buf *b, const struct view *v, const struct fleet *f, double interval_s)
{
	struct buf troubles = {};
	struct fleet_entry *e;
	struct widths w;
	uint32_t taken;
	size_t n = 0, shown;

	e = fleet_sorted(f, &n);
	taken = say_troubles(&troubles, v, f);
	shown = rows_of(v, n, taken);
	w = widths_of(v, e, e ? shown : 0);
	say_head(b, v, f, n, interval_s);
	if (n)
		say_titles(b, v, &w);
	for (size_t i = 0; e && i < shown; i++)
		say_row(b, v, &w, &e[i]);
	if (n > shown && !v->height) {
		struct line l = {.v = v};

		line_printf(&l, "... %zu more (--top N)", n - shown);
		line_end(&l, b, STYLE_DIM);
	}
	if (troubles.s)
		buf_add(b, troubles.s, troubles.len);
	buf_free(&troubles);
	free(e);
}
