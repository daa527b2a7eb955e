// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes the table of the phases of `run --phases`. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/phases.h"
#include "render/text/text.h"

#define ROWS_MOST    40
#define VALUE_WIDTH  9
#define NAME_COLUMNS 12 /* least width of the name, in columns */
#define CUT	     "..."

static struct number_text as_value(const struct phase_value *v, uint64_t n)
{
	if (n == FIGURE_UNKNOWN)
		return (struct number_text){"-"};
	if (v->unit == UNIT_BYTES)
		return as_bytes(n);
	return v->unit == UNIT_NS ? as_duration(n) : as_count(n);
}

/* Returns whether the column has anything to say: a value that is neither 0 nor unknown. */
static bool is_worth_a_column(const struct phases *all, const struct phase_value *v)
{
	for (size_t i = 0; i < all->n; i++) {
		uint64_t n = v->get(&all->phase[i]);

		if (n && n != FIGURE_UNKNOWN)
			return true;
	}
	return false;
}

/* Sorts by the memory that remained, then by the peak, the highest first. */
static int by_memory(const void *one, const void *other)
{
	const struct phase *a = *(const struct phase *const *)one;
	const struct phase *b = *(const struct phase *const *)other;
	uint64_t left[] = {a->ended.rss_bytes - a->began.rss_bytes, a->rss_peak_bytes};
	uint64_t right[] = {b->ended.rss_bytes - b->began.rss_bytes, b->rss_peak_bytes};

	if (left[0] != right[0])
		return (int64_t)left[0] > (int64_t)right[0] ? -1 : 1;
	return left[1] == right[1] ? 0 : left[1] > right[1] ? -1 : 1;
}

static int by_time(const void *one, const void *other)
{
	const struct phase *a = *(const struct phase *const *)one;
	const struct phase *b = *(const struct phase *const *)other;

	return a < b ? -1 : a > b;
}

/*
 * Writes the end of a name that does not fit: names of tests begin with the name of their file, and
 * differ at the end.
 */
static void write_name(struct line *l, const char *name)
{
	int room = l->v->width - line_columns(l);

	if (text_columns(name) > room) {
		line_printf(l, CUT);
		room -= strlen(CUT);
		while (*name && ((*name & 0xc0) == 0x80 || text_columns(name) > room))
			name++;
	}
	line_printf(l, "%s", name);
}

static void write_row(struct buf *b, const struct view *v, const struct phase *p, const bool *shown)
{
	struct line l = {.v = v};

	line_printf(&l, "  ");
	line_cell(&l, as_duration(phase_duration_ns(p)).s, VALUE_WIDTH, true);
	for (size_t i = 0; i < NR_PHASE_VALUES; i++) {
		if (!shown[i])
			continue;
		line_printf(&l, " ");
		line_cell(&l, as_value(&phase_values[i], phase_values[i].get(p)).s, VALUE_WIDTH,
			  true);
	}
	line_printf(&l, "  ");
	write_name(&l, p->name);
	line_end(&l, b, STYLE_PLAIN);
}

static void write_titles(struct buf *b, const struct view *v, const bool *shown)
{
	struct line l = {.v = v};

	line_printf(&l, "  ");
	line_cell(&l, "TIME", VALUE_WIDTH, true);
	for (size_t i = 0; i < NR_PHASE_VALUES; i++) {
		if (!shown[i])
			continue;
		line_printf(&l, " ");
		line_cell(&l, phase_values[i].title, VALUE_WIDTH, true);
	}
	line_printf(&l, "  PHASE");
	line_end(&l, b, STYLE_DIM);
}

/* Chooses the columns that have values and fit, so that the name keeps NAME_COLUMNS. */
static void choose_columns(const struct view *v, const struct phases *all, bool *ret_shown)
{
	int left = v->width - 4 - VALUE_WIDTH - NAME_COLUMNS;

	for (size_t i = 0; i < NR_PHASE_VALUES; i++) {
		ret_shown[i] = left > VALUE_WIDTH && is_worth_a_column(all, &phase_values[i]);
		if (ret_shown[i])
			left -= VALUE_WIDTH + 1;
	}
}

void text_phases(struct buf *b, const struct view *v)
{
	const struct phases *all = v->m->phases;
	const struct phase **order;
	bool shown[NR_PHASE_VALUES];
	size_t rows;

	if (!all)
		return;
	order = malloc((all->n + 1) * sizeof(*order));
	if (!order) {
		b->failed = true;
		return;
	}
	for (size_t i = 0; i < all->n; i++)
		order[i] = &all->phase[i];
	rows = all->n > ROWS_MOST ? ROWS_MOST : all->n;
	if (rows < all->n)
		qsort(order, all->n, sizeof(*order), by_memory);
	qsort(order, rows, sizeof(*order), by_time);
	choose_columns(v, all, shown);
	if (rows)
		write_titles(b, v, shown);
	for (size_t i = 0; i < rows; i++)
		write_row(b, v, order[i], shown);
	free(order);
	if (rows < all->n)
		styled_wrap(b, v, STYLE_DIM, 4,
			    "  %s %s more, after which less memory remained: --json has all",
			    as_count(all->n - rows).s, as_words(all->n - rows, "phase{|s}").s);
	if (all->missed)
		styled_wrap(b, v, STYLE_WARNING, 4, "  %s %s no values: only the first %s are kept",
			    as_count(all->missed).s,
			    as_words(all->missed, "phase{|s} more {has|have}").s,
			    as_count(PHASES_MAX).s);
}
