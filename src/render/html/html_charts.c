// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws the heat maps and the latency of page faults. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "render/html/html.h"

#define LEFT  HTML_LEFT
#define RIGHT HTML_RIGHT

/*
 * Returns the x coordinates of the columns' edges. Columns differ in width, because the time
 * between scans differs.
 */
static void edges_of(const struct story_view *s, double edge[STORY_COLUMNS + 1])
{
	size_t columns = story_columns(s);

	for (size_t i = 0; i < s->h->points; i++) {
		size_t c = i * columns / s->h->points;

		if (!i || c != (i - 1) * columns / s->h->points)
			edge[c] = html_x(s, s->h->point[i].from_ns);
		edge[c + 1] = html_x(s, s->h->point[i].to_ns);
	}
}

/*
 * Draws all cells of one colour as a single path, whose strokes are the cells. Cells of one row
 * that are side by side are one stroke.
 */
static void put_cells(struct buf *b, const struct story_view *s, const uint64_t *cell, size_t rows,
		      int level, uint64_t most, double height)
{
	size_t columns = story_columns(s);
	double edge[STORY_COLUMNS + 1];
	bool any = false;

	edges_of(s, edge);
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0, end; c < columns; c = end) {
			end = c + 1;
			if (html_level(cell[r * columns + c], most) != level)
				continue;
			while (end < columns && html_level(cell[r * columns + end], most) == level)
				end++;
			if (!any)
				buf_printf(b, "<path class=\"h%d\" stroke-width=\"%.0f\" d=\"",
					   level, height - 1);
			html_at(b, "M", edge[c]);
			html_at(b, " ", r * height + (height - 1) / 2);
			html_at(b, "H", edge[end]);
			any = true;
		}
	buf_puts(b, any ? "\"/>\n" : "");
}

void html_cells(struct buf *b, const struct story_view *s, const uint64_t *cell, size_t rows,
		uint64_t most, double height)
{
	for (int level = 1; level <= HTML_LEVELS; level++)
		put_cells(b, s, cell, rows, level, most, height);
}

void html_legend(struct buf *b, const char *what, uint64_t most)
{
	buf_puts(b, "<p class=\"legend\"><span data-is=\"words\">1</span> <svg viewBox=\"0 0 112 "
		    "12\" aria-hidden=\"true\">");
	for (int level = 1; level <= HTML_LEVELS; level++)
		buf_printf(b, "<rect class=\"h%d\" x=\"%d\" width=\"16\" height=\"12\"/>", level,
			   (level - 1) * 16);
	html_printf(
		b,
		"</svg> <span class=\"most\" data-is=\"most\" data-v=\"%.17g\">%s</span> %s in a "
		"cell, on a logarithmic scale</p>\n",
		(double)most, as_count(most).s, what);
}

static uint64_t fill_heat(const struct story_view *s, const struct history_row **rows, size_t n,
			  uint64_t *cell)
{
	size_t columns = story_columns(s);
	uint64_t most = 0;

	for (size_t r = 0; r < n; r++)
		for (size_t i = 0; rows[r]->faults && i < s->h->points; i++) {
			uint64_t *c = &cell[r * columns + i * columns / s->h->points];

			*c += rows[r]->faults[i];
			most = *c > most ? *c : most;
		}
	return most;
}

#define LABEL_WIDTH (LEFT - 10)
#define CHAR_WIDTH  6.8 /* average width of a character in a label, in SVG units */

/* Labels a row with a process. A long name is drawn narrower, so that all of it is seen. */
static void put_process_label(struct buf *b, const struct history_row *r, double y)
{
	char pid[16];
	struct buf name = {};
	size_t chars = snprintf(pid, sizeof(pid), "%u", r->id.pid) + 1;

	buf_safe(&name, r->comm, true);
	chars += name.len;
	buf_printf(b,
		   "<text class=\"label\" data-is=\"process\" data-pid=\"%s\" x=\"%.0f\" "
		   "y=\"%.1f\" text-anchor=\"end\"",
		   pid, LEFT - 8, y);
	if (chars * CHAR_WIDTH > LABEL_WIDTH)
		buf_printf(b, " textLength=\"%.0f\" lengthAdjust=\"spacingAndGlyphs\"",
			   LABEL_WIDTH);
	html_printf(b, ">%s <tspan class=\"tick\">%s</tspan></text>", r->comm, pid);
	buf_end_part(b, &name);
}

void html_heat(struct buf *b, const struct story_view *s)
{
	const struct history_row **rows = buf_needs(b, story_rows(s));
	size_t n = s->h->rows < HTML_HEAT_ROWS ? s->h->rows : HTML_HEAT_ROWS;
	size_t columns = story_columns(s);
	uint64_t *cell = buf_needs(b, calloc(HTML_HEAT_ROWS * STORY_COLUMNS, sizeof(*cell)));
	uint64_t most = 0;
	double height = 20;

	while (rows && n && !history_faults(rows[n - 1]))
		n--;
	html_section(b, "heat", "Faults by process and time",
		     "One row for each of the processes with the most page faults, one column for "
		     "each span of time. Cells with more faults differ more from the background.");
	if (rows && cell && n && columns) {
		most = fill_heat(s, rows, n, cell);
		buf_printf(
			b,
			"<div class=\"chart wide\"><svg id=\"heat-svg\" viewBox=\"0 0 1000 %.0f\" "
			"role=\"img\" aria-labelledby=\"heat-desc\" data-left=\"%.0f\" "
			"data-right=\"%.0f\" data-row=\"%.0f\" data-rows=\"%zu\"><title "
			"id=\"heat-desc\">Page faults by process and time</title>\n",
			n * height + 20, LEFT, RIGHT, height, n);
		for (size_t r = 0; r < n; r++)
			put_process_label(b, rows[r], r * height + 14);
		html_cells(b, s, cell, n, most, height);
		html_axis(b, s, n * height + 16);
		buf_puts(b, "</svg></div>\n");
		html_legend(b, "faults", most);
	} else {
		buf_puts(b, "<p class=\"note\">Nothing faulted.</p>\n");
	}
	html_section_end(b);
	free(cell);
	free(rows);
}

static const char *const end_name[] = {"minor", "major"};

/* Returns the latency histogram of minor or major faults, from the table that all outputs use. */
static const struct histogram *latency_of(int end)
{
	for (size_t i = 0; i < nr_histograms; i++)
		if (!strcmp(histograms[i].group, "faults") &&
		    !strcmp(histograms[i].key, end_name[end]))
			return &histograms[i];
	return NULL;
}

/*
 * Labels a row with "< 1.0 ms". The last bucket, which has no upper bound, has "from" and its lower
 * bound.
 */
static void put_bound(struct buf *b, int bucket, const char *style, double y)
{
	const struct histogram *h = latency_of(END_MINOR);
	bool ends = histogram_le(h, bucket) != UINT64_MAX;
	uint64_t ns = histogram_le(h, ends ? bucket : bucket - 1);

	html_printf(b,
		    "<text class=\"%s\" data-is=\"bound\" data-v=\"%.17g\" x=\"%.0f\" y=\"%.1f\" "
		    "text-anchor=\"end\">%s %s</text>",
		    style, (double)ns, LEFT - 8, y, ends ? "<" : "from", as_duration(ns).s);
}

/* Returns the length of a bar for a number of faults. */
static double bar_of(uint64_t n, uint64_t most)
{
	return n ? (RIGHT - LEFT - 90) * log2(1 + n) / log2(1 + most) : 0;
}

/* Draws the logarithmic axis below the bars: 1, 10, 100 and so on, at most 6 of them. */
static void put_decades(struct buf *b, uint64_t most, double height)
{
	uint64_t step = 10;

	for (uint64_t n = most; n >= 1000000; n /= 1000000)
		step *= 10;
	for (uint64_t n = 1; n <= most && n < UINT64_MAX / step; n *= step)
		html_printf(b,
			    "<path class=\"grid\" d=\"M%.1f 0V%.1f\"/><text class=\"tick\" "
			    "data-is=\"decade\" data-v=\"%.17g\" x=\"%.1f\" y=\"%.1f\" "
			    "text-anchor=\"middle\">%s</text>",
			    LEFT + bar_of(n, most), height, (double)n, LEFT + bar_of(n, most),
			    height + 14, as_count(n).s);
}

static void put_quantiles(struct buf *b, const struct history *h)
{
	static const double q[] = {0.5, 0.9, 0.99};
	struct counters c = {};

	buf_puts(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Quantiles\">"
		    "<table data-is=\"words\"><thead><tr><th scope=\"col\">faults</th><th "
		    "scope=\"col\" "
		    "class=\"n\">timed</th><th scope=\"col\" class=\"n\">p50 below</th><th "
		    "scope=\"col\" "
		    "class=\"n\">p90 below</th><th scope=\"col\" class=\"n\">p99 below</th><th "
		    "scope=\"col\" class=\"n\">longest</th></tr></thead><tbody>\n");
	memcpy(c.latency, h->latency, sizeof(c.latency));
	memcpy(c.latency_max_ns, h->latency_max_ns, sizeof(c.latency_max_ns));
	for (int end = 0; end < NR_ENDS; end++) {
		const struct histogram *l = latency_of(end);

		if (!histogram_total(l, &c))
			continue;
		buf_printf(b, "<tr data-end=\"%s\"><th scope=\"row\">%s</th>", end_name[end],
			   end_name[end]);
		html_cell(b, "latency:total", histogram_total(l, &c),
			  as_count(histogram_total(l, &c)).s);
		for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
			uint64_t ns = histogram_quantile(l, &c, q[i]);
			char is[32];

			snprintf(is, sizeof(is), "latency:p%.0f", 100 * q[i]);
			html_cell(b, is, ns, as_duration(ns).s);
		}
		html_cell(b, "latency:max", h->latency_max_ns[end],
			  as_duration(h->latency_max_ns[end]).s);
		buf_puts(b, "</tr>\n");
	}
	buf_puts(b, "</tbody></table></div>\n");
}

/* Finds the first and the last bucket with values. Returns false if all buckets are empty. */
static bool bounds(const struct history *h, int *first, int *last)
{
	*first = NR_LATENCY;
	*last = -1;
	for (int i = 0; i < NR_LATENCY; i++)
		if (h->latency[0][i] + h->latency[1][i]) {
			*first = i < *first ? i : *first;
			*last = i;
		}
	return *last >= 0;
}

/* Draws bars of minor and major faults. The scale is logarithmic, because major faults are few. */
static void put_histogram(struct buf *b, const struct history *h, int first, int last)
{
	uint64_t most = 0;
	double row = 22;

	for (int i = first; i <= last; i++)
		for (int end = 0; end < NR_ENDS; end++)
			if (h->latency[end][i] > most)
				most = h->latency[end][i];
	buf_printf(b,
		   "<div class=\"chart\"><svg id=\"latency-svg\" viewBox=\"0 0 1000 %.0f\" "
		   "role=\"img\" aria-labelledby=\"latency-desc\" data-left=\"%.0f\" "
		   "data-width=\"%.0f\"><title id=\"latency-desc\">Latency of page faults, minor "
		   "and major, logarithmic</title>\n",
		   (last - first + 1) * row + 20, LEFT, RIGHT - LEFT - 90);
	put_decades(b, most, (last - first + 1) * row);
	for (int i = first; i <= last; i++) {
		double y = (i - first) * row;

		put_bound(b, i, "label", y + 14);
		for (int end = 0; end < NR_ENDS; end++) {
			uint64_t n = h->latency[end][i];
			double width = bar_of(n, most);

			buf_printf(b,
				   "<rect class=\"bar%d\" data-bucket=\"%d\" x=\"%.0f\" y=\"%.1f\" "
				   "width=\"%.1f\" height=\"9\"/>",
				   end, i, LEFT, y + 1 + end * 10, width);
			if (n)
				html_printf(b,
					    "<text class=\"tick count\" data-is=\"bucket:%s:%d\" "
					    "data-v=\"%.17g\" x=\"%.1f\" y=\"%.1f\">%s</text>",
					    end_name[end], i, (double)n, LEFT + width + 5,
					    y + 9.5 + end * 10, as_count(n).s);
		}
	}
	buf_puts(b, "</svg></div>\n<p class=\"legend\"><span class=\"key bar0\"></span> minor "
		    "<span class=\"key bar1\"></span> major; the length of a bar is the number of "
		    "faults, "
		    "on a logarithmic scale</p>\n");
}

static void put_latency_heat(struct buf *b, const struct story_view *s, int first, int last)
{
	const struct history *h = s->h;
	size_t columns = story_columns(s), rows = last - first + 1;
	uint64_t *cell = buf_needs(b, calloc(NR_LATENCY * STORY_COLUMNS, sizeof(*cell))), most = 0;
	double height = 16;

	if (!cell || !columns) {
		free(cell);
		return;
	}
	for (size_t i = 0; i < h->points; i++)
		for (size_t r = 0; r < rows; r++) {
			int bucket = last - r;
			uint64_t *c = &cell[r * columns + i * columns / h->points];

			*c += h->point[i].latency[0][bucket] + h->point[i].latency[1][bucket];
			most = *c > most ? *c : most;
		}
	buf_printf(b,
		   "<h3>Latency over time</h3><div class=\"chart wide\"><svg id=\"latency-heat\" "
		   "viewBox=\"0 0 1000 %.0f\" role=\"img\" aria-labelledby=\"latency-heat-desc\" "
		   "data-left=\"%.0f\" data-right=\"%.0f\" data-row=\"%.0f\" data-last=\"%d\" "
		   "data-rows=\"%zu\">"
		   "<title id=\"latency-heat-desc\">How many faults took how long, over "
		   "time</title>\n",
		   rows * height + 20, LEFT, RIGHT, height, last, rows);
	for (size_t r = 0; r < rows; r++) {
		put_bound(b, last - r, "tick", r * height + 12);
	}
	html_cells(b, s, cell, rows, most, height);
	html_axis(b, s, rows * height + 16);
	buf_puts(b, "</svg></div>\n");
	html_legend(b, "faults", most);
	free(cell);
}

void html_latency(struct buf *b, const struct story_view *s)
{
	int first, last;

	html_section(b, "latency", "Latency of faults",
		     "How long threads waited in page faults that the kernel handled.");
	if (bounds(s->h, &first, &last)) {
		put_quantiles(b, s->h);
		put_histogram(b, s->h, first, last);
		put_latency_heat(b, s, first, last);
	} else {
		buf_puts(b, "<p class=\"note\" data-is=\"words\">Not measured: latency is overhead "
			    "level 2 "
			    "(<code>--overhead 0-3</code>, or a process that is named).</p>\n");
	}
	html_section_end(b);
}
