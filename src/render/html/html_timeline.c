// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws the timeline: rates of faults and sums of gauges over time, with marks of findings. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "render/html/html.h"

#define LEFT  HTML_LEFT
#define RIGHT HTML_RIGHT

#define TRACK_HEIGHT 58
#define TRACK_GAP    14

#define NR_COLOURS 7 /* number of colours in report.css */

/* The curves of the timeline: rates of faults, then sums of gauges over all processes. */
enum rate { MINOR, MAJOR, STALL, NR_RATES };

struct track {
	const char *title, *unit, *source; /* `source`: data-is of its values */
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
	static const struct track rates[] = {{"minor faults", "/s", "minor", MINOR},
					     {"major faults", "/s", "major", MAJOR},
					     {"stall", "ms/s", "stall_ns", STALL}};
	const struct field *f;

	if (nth < NR_RATES)
		return rates[nth];
	f = s->h->gauge[nth - NR_RATES];
	return (struct track){f->sum.title, "", f->sum.column, nth, f};
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
	else if (t->sum)
		put_count(b, count_of_real(v));
	else
		put_rate(b, v);
	if (*t->unit)
		buf_printf(b, "%s%s", t->unit[0] == '/' ? "" : " ", t->unit);
}

/* Returns whether all points are at one moment. */
static bool is_moment(const struct history *h)
{
	return h->point[0].from_ns == h->point[h->points - 1].to_ns;
}

/* Returns the upper edge of a step, rounded to a tenth. */
static double top_of(const struct history_point *p, const struct track *t, double base, double most)
{
	return round((base - (most > 0 ? value_of(p, t) / most * TRACK_HEIGHT : 0)) * 10) / 10;
}

/* Draws a rate in steps, because it applies to the whole time span in which it was counted. */
static void put_area(struct buf *b, const struct story_view *s, const struct track *t, double y,
		     double most)
{
	const struct history *h = s->h;
	double base = y + TRACK_HEIGHT;

	buf_printf(b, "<path class=\"area s%zu\" d=\"", t->nth % NR_COLOURS);
	html_at(b, "M", html_x(s, h->point[0].from_ns));
	html_at(b, " ", base);
	for (size_t i = 0; i < h->points; i++) {
		double top = top_of(&h->point[i], t, base, most);

		if (i && top == top_of(&h->point[i - 1], t, base, most))
			continue;
		if (i)
			html_at(b, "H", html_x(s, h->point[i - 1].to_ns));
		html_at(b, "V", top);
	}
	/* a recording of one scan has no duration: its values fill the width */
	html_at(b, "H", is_moment(h) ? RIGHT : html_x(s, h->point[h->points - 1].to_ns));
	html_at(b, "V", base);
	buf_puts(b, "Z\"/>");
}

static void put_track(struct buf *b, const struct story_view *s, const struct track *t, double y)
{
	double most = highest(s->h, t);
	struct buf n = {};

	put_number(&n, t, most);
	html_printf(b,
		    "<g><text class=\"label\" x=\"%.0f\" y=\"%.1f\" "
		    "text-anchor=\"end\">%s</text><text class=\"tick\" data-is=\"peak:%s\" "
		    "data-v=\"%.17g\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text><text "
		    "class=\"tick\" data-is=\"words\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">0"
		    "</text><path class=\"grid\" d=\"M%.0f %.1fH%.0fM%.0f %.1fH%.0f\"/>",
		    LEFT - 8, y + 24, t->title, t->source, most, LEFT - 8, y + 8, n.s ? n.s : "",
		    LEFT - 8, y + TRACK_HEIGHT, LEFT, y + TRACK_HEIGHT, RIGHT, LEFT, y, LEFT + 4);
	put_area(b, s, t, y, most);
	buf_puts(b, "</g>\n");
	buf_end_part(b, &n);
}

#define LANES	     3
#define LANE_HEIGHT  13
#define MARKS_MAX    64
#define MARK_WIDTH   44 /* width of a label, such as "M34 \303\2279" */
#define MARKS_HEIGHT (LANES * LANE_HEIGHT + 4)

/* A label at the begin of findings: of one rule, in one lane, without a gap. */
struct mark {
	const struct finding *first;
	double x;
	size_t lane, findings;
};

static int by_begin(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

/* Adds a finding to a label of its rule that is near, or to the first lane with room. */
static bool add_mark(struct mark *m, size_t *n, const struct finding *f, double x)
{
	double end[LANES] = {0};

	for (size_t i = 0; i < *n; i++) {
		if (m[i].first->rule == f->rule && x < m[i].x + MARK_WIDTH) {
			m[i].findings++;
			return true;
		}
		end[m[i].lane] = m[i].x + MARK_WIDTH;
	}
	for (size_t lane = 0; lane < LANES && *n < MARKS_MAX; lane++)
		if (end[lane] <= x) {
			m[(*n)++] = (struct mark){f, x, lane, 1};
			return true;
		}
	return false;
}

static void put_mark_line(struct buf *b, const struct mark *m, double height)
{
	buf_printf(b, "<path class=\"mark %s\" d=\"M%.1f %zuV%.0f\"/>",
		   severity_name(m->first->worst), m->x, m->lane * LANE_HEIGHT + 2, height);
}

static void put_mark_label(struct buf *b, const struct mark *m)
{
	bool left = m->x > RIGHT - MARK_WIDTH;
	char times[32] = "";

	if (m->findings > 1)
		snprintf(times, sizeof(times), " \303\227%zu", m->findings);
	html_printf(b,
		    "<text class=\"tick label\" data-is=\"mark:%s\" data-v=\"%zu\" x=\"%.1f\" "
		    "y=\"%zu\" "
		    "text-anchor=\"%s\">%s%s<title>%s</title></text>\n",
		    m->first->rule->id, m->findings, left ? m->x - 3 : m->x + 3,
		    m->lane * LANE_HEIGHT + 11, left ? "end" : "start", m->first->rule->id, times,
		    m->first->title);
}

/* Marks where findings opened. Returns the number of findings whose label has no room. */
static size_t put_marks(struct buf *b, const struct story_view *s, double height)
{
	const struct findings *fs = s->v->findings;
	const struct finding **f = buf_needs(b, calloc(fs->n + 1, sizeof(*f)));
	struct mark mark[MARKS_MAX];
	size_t n = 0, marks = 0, left_out = 0;

	for (size_t i = 0; f && i < fs->n; i++)
		if (fs->f[i].worst != SEVERITY_INFO)
			f[n++] = &fs->f[i];
	if (f)
		qsort(f, n, sizeof(*f), by_begin);
	for (size_t i = 0; i < n; i++)
		left_out += !add_mark(mark, &marks, f[i], html_x(s, f[i]->since_ns));
	/* labels cover the lines of other marks */
	for (size_t i = 0; i < marks; i++)
		put_mark_line(b, &mark[i], height);
	for (size_t i = 0; i < marks; i++)
		put_mark_label(b, &mark[i]);
	free(f);
	return left_out;
}

static void put_total(struct buf *b, const char *is, uint64_t n, bool duration)
{
	html_cell(b, is, n, (duration ? as_duration(n) : as_count(n)).s);
}

/* Writes a row of the table. The data of the page has the values that are rounded here. */
static void put_row(struct buf *b, const struct story_view *s, const struct history_point *p)
{
	buf_printf(b,
		   "<tr><th scope=\"row\"><time data-ms=\"%" PRIu64
		   "\">%s</time></th><td>%s</td><td>%s</td><td>%s</td>",
		   view_wall_ns(s->v, p->to_ns) / 1000000, html_clock(s, p->to_ns, 1000).s,
		   as_count(p->minor).s, as_count(p->major).s, as_duration(p->stall_ns).s);
	for (size_t k = 0; k < s->h->gauges; k++)
		buf_printf(b, "<td>%s</td>",
			   (s->h->gauge[k]->unit == UNIT_BYTES ? as_bytes(p->gauge[k])
							       : as_count(p->gauge[k]))
				   .s);
	buf_puts(b, "</tr>\n");
}

static void put_timeline_table(struct buf *b, const struct story_view *s)
{
	const struct history *h = s->h;

	buf_puts(b, "<details><summary>As a table</summary><div class=\"scroll\" tabindex=\"0\" "
		    "role=\"region\" aria-label=\"Timeline as a table\"><table id=\"points\" "
		    "class=\"numbers\"><thead><tr><th scope=\"col\" data-of=\"point\">until</th>");
	for (size_t k = 0; k < nr_tracks(s); k++)
		buf_printf(b, "<th scope=\"col\" data-of=\"span:%s\">%s</th>",
			   track_of(s, k).source, track_of(s, k).title);
	buf_puts(b, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < h->points; i++)
		put_row(b, s, &h->point[i]);
	buf_puts(b, "</tbody><tfoot><tr><th scope=\"row\">sum</th>");
	put_total(b, "total:faults.minor", history_total(h, FIELD(min_flt)), false);
	put_total(b, "total:faults.major", history_total(h, FIELD(maj_flt)), false);
	put_total(b, "total:faults.stall_ns", history_total(h, FIELD(stall)), true);
	for (size_t k = 0; k < h->gauges; k++)
		buf_puts(b, "<td></td>");
	buf_puts(b, "</tr></tfoot></table></div></details>\n");
}

/*
 * Returns whether to draw a curve. Fault rates are always drawn, other curves only if they were
 * ever above 0.
 */
static bool is_drawn(const struct story_view *s, const struct track *t)
{
	return t->nth <= MAJOR || highest(s->h, t) > 0;
}

static void put_tools(struct buf *b)
{
	buf_puts(b, "<p class=\"tools\" hidden id=\"range-tools\"><span id=\"range-text\" "
		    "role=\"status\">whole recording</span> <button type=\"button\" "
		    "id=\"range-clear\">Whole recording</button> <label>Go to <input "
		    "id=\"range-goto\" size=\"9\" placeholder=\"HH:MM:SS\" autocomplete=\"off\">"
		    "</label> <button type=\"button\" id=\"range-base\">Compare with this range"
		    "</button> <span id=\"range-base-text\"></span></p>\n");
}

static void put_chart(struct buf *b, const struct story_view *s)
{
	double y = MARKS_HEIGHT, height;
	size_t shown = 0, unlabelled;

	for (size_t k = 0; k < nr_tracks(s); k++) {
		struct track t = track_of(s, k);

		shown += is_drawn(s, &t);
	}
	height = y + shown * (TRACK_HEIGHT + TRACK_GAP) + 18;
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
	unlabelled = put_marks(b, s, height - 18);
	html_axis(b, s, height - 2);
	buf_puts(b, "</svg></div>\n");
	if (unlabelled)
		html_note(b, "unlabelled", unlabelled,
			  " more opened where the chart has no room for a label; <a "
			  "href=\"#events\">What happened</a> lists them.");
}

void html_timeline(struct buf *b, const struct story_view *s)
{
	html_section(b, "timeline", "Timeline",
		     "The sums of all processes. Drag to select a time range for the flame graph, "
		     "the heat maps, the latency, the processes and the events. With the keyboard, "
		     "move the two handles by arrow keys, or type a time. A label marks where a "
		     "finding opened.");
	put_tools(b);
	if (s->h->points) {
		put_chart(b, s);
		put_timeline_table(b, s);
	} else {
		buf_puts(b, "<p class=\"note\">No scans.</p>\n");
	}
	html_section_end(b);
}
