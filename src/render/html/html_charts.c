// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws the charts of a page: values over time, latency, limits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "model/resources.h"
#include "render/html/html.h"

#define LEFT  HTML_LEFT
#define RIGHT HTML_RIGHT

#define TRACK_HEIGHT 58
#define TRACK_GAP    14
#define GAUGES_SHOWN 8

/* Returns the x coordinate of a time. */
static double x_of(const struct story_view *s, uint64_t t_ns)
{
	const struct history *h = s->h;
	uint64_t from = h->points ? h->point[0].from_ns : 0;
	uint64_t to = h->points ? h->point[h->points - 1].to_ns : 0;

	if (to <= from || t_ns <= from)
		return LEFT;
	return t_ns >= to ? RIGHT : LEFT + (RIGHT - LEFT) * (t_ns - from) / (to - from);
}

void html_axis(struct buf *b, const struct story_view *s, double y)
{
	const struct history *h = s->h;
	uint64_t from = h->points ? h->point[0].from_ns : 0;
	uint64_t to = h->points ? h->point[h->points - 1].to_ns : 0;

	for (int i = 0; i <= 5; i++) {
		double x = LEFT + (RIGHT - LEFT) * i / 5;

		html_printf(
			b,
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
			x, y,
			i == 5 ? "end"
			: i    ? "middle"
			       : "start",
			as_span(view_seconds(s->v, from + (to - from) * i / 5)).s);
	}
}

#define NR_COLOURS 7 /* number of colours in report.css */

/* The curves of the timeline: rates of faults, then sums of gauges over all processes. */
enum rate { MINOR, MAJOR, STALL, NR_RATES };

struct track {
	const char *title, *unit;
	/* index of the curve: enum rate, or NR_RATES plus the index of a gauge in the history */
	size_t nth;
	const struct field *sum; /* field of a gauge; NULL: the curve is a rate */
};

static size_t nr_tracks(const struct story_view *s)
{
	return NR_RATES + s->h->gauges;
}

static struct track track_of(const struct story_view *s, size_t nth)
{
	static const struct track rates[] = {{"minor faults", "/s", MINOR},
					     {"major faults", "/s", MAJOR},
					     {"stall", "ms/s", STALL}};
	const struct field *f = nth < NR_RATES ? NULL : s->h->gauge[nth - NR_RATES];

	return f ? (struct track){f->sum.title, "", nth, f} : rates[nth];
}

static double value_of(const struct history_point *p, const struct track *t)
{
	switch (t->nth) {
	case MINOR:
		return history_rate(p, p->minor);
	case MAJOR:
		return history_rate(p, p->major);
	case STALL:
		return history_rate(p, p->stall_ns) / 1e6;
	default:
		return p->gauge[t->nth - NR_RATES];
	}
}

static double highest(const struct history *h, const struct track *t)
{
	double most = 0;

	for (size_t i = 0; i < h->points; i++)
		if (value_of(&h->point[i], t) > most)
			most = value_of(&h->point[i], t);
	return most;
}

static void put_number(struct buf *b, const struct track *t, double v)
{
	if (t->sum && t->sum->unit == UNIT_BYTES)
		put_bytes(b, count_of_real(v));
	else
		put_rate(b, v);
	if (*t->unit)
		buf_printf(b, "%s%s", t->unit[0] == '/' ? "" : " ", t->unit);
}

/* Draws a rate in steps, because it applies to the whole time span in which it was counted. */
static void put_area(struct buf *b, const struct story_view *s, const struct track *t, double y,
		     double most)
{
	const struct history *h = s->h;
	double base = y + TRACK_HEIGHT;

	buf_printf(b, "<path class=\"area s%zu\" d=\"M%.1f %.1f", t->nth % NR_COLOURS,
		   x_of(s, h->point[0].from_ns), base);
	for (size_t i = 0; i < h->points; i++) {
		const struct history_point *p = &h->point[i];
		double top = base - (most > 0 ? value_of(p, t) / most * TRACK_HEIGHT : 0);

		buf_printf(b, "V%.1fH%.1f", top, x_of(s, p->to_ns));
	}
	buf_printf(b, "V%.1fZ\"/>", base);
}

static void put_track(struct buf *b, const struct story_view *s, const struct track *t, double y)
{
	double most = highest(s->h, t);
	struct buf n = {};

	put_number(&n, t, most);
	html_printf(b,
		    "<g class=\"track\"><text class=\"label\" x=\"%.0f\" y=\"%.1f\" "
		    "text-anchor=\"end\">%s</text><text class=\"tick\" x=\"%.0f\" y=\"%.1f\" "
		    "text-anchor=\"end\">%s</text><line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" "
		    "y1=\"%.1f\" y2=\"%.1f\"/>",
		    LEFT - 8, y + 22, t->title, LEFT - 8, y + 39, n.s, LEFT, RIGHT,
		    y + TRACK_HEIGHT, y + TRACK_HEIGHT);
	put_area(b, s, t, y, most);
	buf_puts(b, "</g>\n");
	buf_end_part(b, &n);
}

static void put_findings_at(struct buf *b, const struct story_view *s, double height)
{
	const struct findings *f = s->v->findings;

	for (size_t i = 0; i < f->n && i < 64; i++) {
		if (f->f[i].worst == SEVERITY_INFO)
			continue;
		html_printf(b,
			    "<line class=\"mark %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" "
			    "y2=\"%.0f\"><title>%s: %s</title></line><text class=\"tick\" "
			    "x=\"%.1f\" y=\"11\">%s</text>",
			    severity_name(f->f[i].worst), x_of(s, f->f[i].since_ns),
			    x_of(s, f->f[i].since_ns), height, f->f[i].rule->id, f->f[i].title,
			    x_of(s, f->f[i].since_ns) + 3, f->f[i].rule->id);
	}
}

static void put_timeline_table(struct buf *b, const struct story_view *s)
{
	const struct history *h = s->h;

	buf_puts(b, "<details><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\" "
		    "role=\"region\" aria-label=\"Timeline as a table\"><table><thead><tr>"
		    "<th scope=\"col\" class=\"n\">to</th>");
	for (size_t k = 0; k < nr_tracks(s); k++)
		buf_printf(b, "<th scope=\"col\" class=\"n\">%s</th>", track_of(s, k).title);
	buf_puts(b, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < h->points; i++) {
		buf_printf(b, "<tr><th scope=\"row\" class=\"n\">%.1f s</th>",
			   view_seconds(s->v, h->point[i].to_ns));
		for (size_t k = 0; k < nr_tracks(s); k++) {
			struct track t = track_of(s, k);

			buf_puts(b, "<td class=\"n\">");
			put_number(b, &t, value_of(&h->point[i], &t));
			buf_puts(b, "</td>");
		}
		buf_puts(b, "</tr>\n");
	}
	buf_puts(b, "</tbody></table></div></details>\n");
}

/*
 * Returns whether to draw a curve. Fault rates are always drawn, other curves only if they were
 * ever above 0.
 */
static bool is_drawn(const struct story_view *s, const struct track *t)
{
	return t->nth <= MAJOR || highest(s->h, t) > 0;
}

void html_timeline(struct buf *b, const struct story_view *s)
{
	double y = 16, height;
	size_t shown = 0;

	html_section(b, "timeline", "Timeline",
		     "The sums of all processes. Drag to select a time range for the flame graph, "
		     "the heat maps, the latency, the processes and the events. With the keyboard, "
		     "move the two handles by arrow keys.");
	for (size_t k = 0; k < nr_tracks(s); k++) {
		struct track t = track_of(s, k);

		shown += is_drawn(s, &t);
	}
	height = 16 + shown * (TRACK_HEIGHT + TRACK_GAP) + 18;
	buf_puts(b, "<p class=\"tools\" hidden id=\"range-tools\"><span id=\"range-text\" "
		    "role=\"status\">whole recording</span> <button type=\"button\" "
		    "id=\"range-clear\">Whole recording</button></p>\n");
	if (!s->h->points) {
		buf_puts(b, "<p class=\"note\">No scans.</p>\n");
		html_section_end(b);
		return;
	}
	buf_printf(
		b,
		"<div class=\"chart wide\"><svg id=\"timeline-svg\" viewBox=\"0 0 1000 %.0f\" "
		"role=\"img\" aria-labelledby=\"timeline-desc\" data-left=\"%.0f\" "
		"data-right=\"%.0f\">\n<title id=\"timeline-desc\">Faults, stall, mappings, file "
		"descriptors and memory over time; the table below has the same numbers</title>\n",
		height, LEFT, RIGHT);
	for (size_t k = 0; k < nr_tracks(s); k++) {
		struct track t = track_of(s, k);

		if (!is_drawn(s, &t))
			continue;
		put_track(b, s, &t, y);
		y += TRACK_HEIGHT + TRACK_GAP;
	}
	put_findings_at(b, s, height - 18);
	html_axis(b, s, height - 4);
	buf_puts(b, "</svg></div>\n");
	put_timeline_table(b, s);
	html_section_end(b);
}

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
			edge[c] = x_of(s, s->h->point[i].from_ns);
		edge[c + 1] = x_of(s, s->h->point[i].to_ns);
	}
}

/* Draws all cells of one colour as a single path. */
static void put_cells(struct buf *b, const struct story_view *s, const uint64_t *cell, size_t rows,
		      int level, uint64_t most, double height)
{
	size_t columns = story_columns(s);
	double edge[STORY_COLUMNS + 1];
	bool any = false;

	edges_of(s, edge);

	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < columns; c++) {
			if (html_level(cell[r * columns + c], most) != level)
				continue;
			if (!any)
				buf_printf(b, "<path class=\"h%d\" d=\"", level);
			buf_printf(b, "M%.1f %.1fh%.1fv%.1fh-%.1fz", edge[c], r * height,
				   edge[c + 1] - edge[c] + 0.3, height - 1,
				   edge[c + 1] - edge[c] + 0.3);
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
	buf_puts(b, "<p class=\"legend\">none <svg viewBox=\"0 0 112 12\" aria-hidden=\"true\">");
	for (int level = 1; level <= HTML_LEVELS; level++)
		buf_printf(b, "<rect class=\"h%d\" x=\"%d\" width=\"16\" height=\"12\"/>", level,
			   (level - 1) * 16);
	buf_printf(b, "</svg> %s %s (logarithmic)</p>\n", as_count(most).s, what);
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
			html_printf(
				b,
				"<text class=\"label\" x=\"%.0f\" y=\"%.1f\" "
				"text-anchor=\"end\">%s <tspan class=\"tick\">%u</tspan></text>",
				LEFT - 8, r * height + 14, rows[r]->comm, rows[r]->id.pid);
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
 * Appends "< 1.0 ms". For the last bucket, which has no upper bound, appends "from" and its lower
 * bound.
 */
static void put_bound(struct buf *b, int bucket)
{
	const struct histogram *h = latency_of(END_MINOR);
	bool ends = histogram_le(h, bucket) != UINT64_MAX;

	buf_puts(b, ends ? "&lt; " : "from ");
	put_duration(b, histogram_le(h, ends ? bucket : bucket - 1));
}

static void put_quantiles(struct buf *b, const struct history *h)
{
	static const double q[] = {0.5, 0.9, 0.99};
	struct counters c = {};

	buf_puts(b, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Quantiles\">"
		    "<table><thead><tr><th scope=\"col\">faults</th><th scope=\"col\" class=\"n\">"
		    "timed</th><th scope=\"col\" class=\"n\">p50 below</th><th scope=\"col\" "
		    "class=\"n\">p90 below</th><th scope=\"col\" class=\"n\">p99 below</th><th "
		    "scope=\"col\" class=\"n\">longest</th></tr></thead><tbody>\n");
	memcpy(c.latency, h->latency, sizeof(c.latency));
	memcpy(c.latency_max_ns, h->latency_max_ns, sizeof(c.latency_max_ns));
	for (int end = 0; end < NR_ENDS; end++) {
		const struct histogram *l = latency_of(end);

		if (!histogram_total(l, &c))
			continue;
		buf_printf(b, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s", end_name[end],
			   as_count(histogram_total(l, &c)).s);
		for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
			buf_printf(b, "</td><td class=\"n\">%s",
				   as_duration(histogram_quantile(l, &c, q[i])).s);
		buf_printf(b, "</td><td class=\"n\">%s</td></tr>\n",
			   as_duration(h->latency_max_ns[end]).s);
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
		   (last - first + 1) * row + 4, LEFT, RIGHT - LEFT - 90);
	for (int i = first; i <= last; i++) {
		double y = (i - first) * row;

		buf_printf(b, "<text class=\"label\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">",
			   LEFT - 8, y + 14);
		put_bound(b, i);
		buf_puts(b, "</text>");
		for (int end = 0; end < NR_ENDS; end++) {
			uint64_t n = h->latency[end][i];
			double width = n ? (RIGHT - LEFT - 90) * log2(1 + n) / log2(1 + most) : 0;

			buf_printf(b,
				   "<rect class=\"bar%d\" data-bucket=\"%d\" x=\"%.0f\" y=\"%.1f\" "
				   "width=\"%.1f\" height=\"9\"/>",
				   end, i, LEFT, y + 1 + end * 10, width);
			if (n)
				buf_printf(b,
					   "<text class=\"tick count\" x=\"%.1f\" "
					   "y=\"%.1f\">%s</text>",
					   LEFT + width + 5, y + 9.5 + end * 10, as_count(n).s);
		}
	}
	buf_puts(b, "</svg></div>\n<p class=\"legend\"><span class=\"key bar0\"></span> minor "
		    "<span class=\"key bar1\"></span> major</p>\n");
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
		buf_printf(b, "<text class=\"tick\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">",
			   LEFT - 8, r * height + 12);
		put_bound(b, last - r);
		buf_puts(b, "</text>");
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
		buf_puts(b, "<p class=\"note\">Not measured: latency is overhead level 2 "
			    "(<code>--overhead 0-3</code>, or a process that is named).</p>\n");
	}
	html_section_end(b);
}

/* A value over time with its limit, and a forecast of when the value reaches the limit. */
struct gauge {
	const struct history_row *row;
	enum what what;
	uint64_t limit;
	double share;
	struct forecast forecast;
};

static int by_share(const void *a, const void *b)
{
	const struct gauge *x = a, *y = b;

	return x->share < y->share ? 1 : x->share > y->share ? -1 : 0;
}

static size_t find_gauges(const struct story_view *s, struct gauge *ret, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < s->h->rows && n < room; i++)
		for (int what = WHAT_MAPS; what <= WHAT_FDS && n < room; what++) {
			const struct history_row *r = &s->h->row[i];
			const struct series *x = r->series[what];
			uint64_t limit = history_field(
				r, what == WHAT_MAPS ? FIELD(map_limit) : FIELD(fd_soft));

			if (!x || !x->n || !limit || limit == UINT64_MAX)
				continue;
			ret[n] = (struct gauge){.row = r, .what = what, .limit = limit};
			ret[n].share = (double)x->point[x->n - 1].high / limit;
			if (!r->final)
				ret[n].forecast = series_forecast(x, s->h->last_ns, limit);
			n++;
		}
	if (n)
		qsort(ret, n, sizeof(*ret), by_share);
	return n;
}

/* Draws the forecast from the last value to the interval in which the limit may be reached. */
static void put_band(struct buf *b, const struct gauge *g, double now_x, double now_y, double top,
		     double per_s)
{
	double low = now_x + g->forecast.low * per_s, high = now_x + g->forecast.high * per_s;
	double mid = now_x + g->forecast.seconds * per_s;

	low = low > RIGHT ? RIGHT : low;
	high = high > RIGHT ? RIGHT : high;
	mid = mid > RIGHT ? RIGHT : mid;
	buf_printf(
		b,
		"<path class=\"band\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/><path class=\"fit\" "
		"d=\"M%.1f %.1fL%.1f %.1f\"/>",
		now_x, now_y, low, top, high, top, now_x, now_y, mid, top);
}

static void put_gauge(struct buf *b, const struct story_view *s, const struct gauge *g, size_t nth)
{
	const struct series *x = g->row->series[g->what];
	double from = view_seconds(s->v, x->point[0].t_ns),
	       last = view_seconds(s->v, s->h->last_ns);
	double span = last - from, height = 120, top = 14, base = height - 6, per_s;
	double px = LEFT, py = base;

	if (g->forecast.known && g->forecast.high < 3 * span)
		span += g->forecast.high * 1.05;
	else if (g->forecast.known)
		span *= 2;
	per_s = span > 0 ? (RIGHT - LEFT) / span : 0;
	html_printf(b,
		    "<figure class=\"gauge\"><figcaption id=\"gauge-%zu\"><strong>%s[%u]</strong> "
		    "%s: %s of %s (%.1f%%)",
		    nth, g->row->comm, g->row->id.pid,
		    g->what == WHAT_MAPS ? "mappings" : "file descriptors",
		    as_count(x->point[x->n - 1].high).s, as_count(g->limit).s, 100 * g->share);
	if (g->forecast.known) {
		buf_printf(b, ", full in <strong>%s</strong> (%s to %s)",
			   as_span(g->forecast.seconds).s, as_span(g->forecast.low).s,
			   as_span(g->forecast.high).s);
	} else {
		buf_puts(b, g->row->final ? ", ended" : ", no forecast: it does not grow steadily");
	}
	buf_printf(b,
		   "</figcaption><svg viewBox=\"0 0 1000 %.0f\" role=\"img\" "
		   "aria-labelledby=\"gauge-%zu\"><line class=\"limit\" x1=\"%.0f\" x2=\"%.0f\" "
		   "y1=\"%.1f\" y2=\"%.1f\"/><text class=\"tick\" x=\"%.0f\" y=\"%.1f\" "
		   "text-anchor=\"end\">limit</text><line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" "
		   "y1=\"%.1f\" y2=\"%.1f\"/><text class=\"tick\" x=\"%.0f\" y=\"%.1f\" "
		   "text-anchor=\"end\">0</text><path class=\"line\" d=\"",
		   height, nth, LEFT, RIGHT, top, top, LEFT - 8, top + 4, LEFT, RIGHT, base, base,
		   LEFT - 8, base + 3);
	for (uint32_t i = 0; i < x->n; i++) {
		px = LEFT + (view_seconds(s->v, x->point[i].t_ns) - from) * per_s;
		py = base - (base - top) * x->point[i].high / g->limit;
		buf_printf(b, "%s%.1f %.1f", i ? "L" : "M", px, py < top ? top : py);
	}
	buf_puts(b, "\"/>");
	if (g->forecast.known)
		put_band(b, g, LEFT + (last - from) * per_s, py, top, per_s);
	buf_puts(b, "</svg></figure>\n");
}

void html_gauges(struct buf *b, const struct story_view *s)
{
	size_t room = 2 * (s->h->rows + 1), n;
	struct gauge *g = buf_needs(b, calloc(room, sizeof(*g)));

	n = g ? find_gauges(s, g, room) : 0;
	html_section(b, "gauges", "Limits and when they are reached",
		     "The peak so far, and the limit. The wedge shows the forecast if growth "
		     "continues; there is no wedge if growth is too uneven for a forecast.");
	if (!n)
		buf_puts(b, "<p class=\"note\">No process used 10 % of a limit of its own.</p>\n");
	for (size_t i = 0; i < n && i < GAUGES_SHOWN; i++)
		put_gauge(b, s, &g[i], i);
	html_section_end(b);
	free(g);
}
