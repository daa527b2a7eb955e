// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes times of a page: as the clock of the host showed them, on axes and in texts. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/units.h"
#include "render/html/html.h"

#define NS	  1000000000LL
#define TICKS_MAX 6 /* maximum number of ticks of an axis */

/* Distances of ticks, in ms. */
static const int64_t steps[] = {
	1,	  2,	    5,	      10,	 20,	    50,	     100,     200,
	500,	  1000,	    2000,     5000,	 10000,	    15000,   30000,   60000,
	120000,	  300000,   600000,   900000,	 1800000,   3600000, 7200000, 10800000,
	21600000, 43200000, 86400000, 172800000, 604800000,
};

static uint64_t begin_ns(const struct story_view *s)
{
	return s->h->points ? s->h->point[0].from_ns : s->v->m->first_ns;
}

static uint64_t end_ns(const struct story_view *s)
{
	return s->h->points ? s->h->point[s->h->points - 1].to_ns : s->v->m->last_ns;
}

int64_t html_zone(const struct story_view *s)
{
	const struct host_record *h = &s->v->m->host;

	return h->zone_known ? h->zone_s : 0;
}

bool html_dated(const struct story_view *s)
{
	int64_t from = view_wall_ns(s->v, begin_ns(s)) / NS,
		to = view_wall_ns(s->v, end_ns(s)) / NS;
	int64_t zone = html_zone(s);

	return from / 86400 != to / 86400 || (from + zone) / 86400 != (to + zone) / 86400;
}

void html_zone_name(const struct story_view *s, char *ret, size_t size)
{
	int64_t zone = html_zone(s), minutes = (zone < 0 ? -zone : zone) / 60;

	if (minutes)
		snprintf(ret, size, "UTC%c%02d:%02d", zone < 0 ? '-' : '+', (int)(minutes / 60),
			 (int)(minutes % 60));
	else
		snprintf(ret, size, "UTC");
}

/* Writes a time of the host's clock. `step` is the resolution that is needed, in ms. */
static void put_clock(char *ret, size_t size, int64_t ms, int64_t step, bool dated)
{
	time_t seconds = ms / 1000;
	struct tm tm;
	size_t n;

	*ret = 0;
	if (!gmtime_r(&seconds, &tm))
		return;
	n = strftime(ret, size,
		     dated ? (step >= 60000 ? "%b %e %H:%M" : "%b %e %H:%M:%S")
			   : (step >= 60000 ? "%H:%M" : "%H:%M:%S"),
		     &tm);
	if (step < 1000)
		snprintf(ret + n, size - n, ".%03d", (int)(ms % 1000));
}

struct number_text html_clock(const struct story_view *s, uint64_t t_ns, int64_t step)
{
	uint64_t wall = view_wall_ns(s->v, t_ns);
	struct number_text t;

	if (wall)
		put_clock(t.s, sizeof(t.s), wall / 1000000 + html_zone(s) * 1000, step,
			  html_dated(s));
	else
		snprintf(t.s, sizeof(t.s), "%.3f s", view_seconds(s->v, t_ns));
	return t;
}

void html_time(struct buf *b, const struct story_view *s, const char *is, uint64_t t_ns)
{
	buf_printf(b, "<time data-is=\"%s\" data-v=\"%.6f\" data-ms=\"%" PRIu64 "\">%s</time>", is,
		   view_seconds(s->v, t_ns), view_wall_ns(s->v, t_ns) / 1000000,
		   html_clock(s, t_ns, 1000).s);
}

/* Returns the smallest distance of ticks with at most TICKS_MAX of them. */
static int64_t step_of(int64_t span)
{
	size_t last = sizeof(steps) / sizeof(steps[0]) - 1;

	for (size_t i = 0; i < last; i++)
		if (span / steps[i] < TICKS_MAX)
			return steps[i];
	return steps[last];
}

static void put_tick(struct buf *b, const struct story_view *s, double x, double y, double t,
		     const char *text)
{
	const char *anchor = x > HTML_RIGHT - 40 ? "end" : x < HTML_LEFT + 40 ? "start" : "middle";

	html_printf(b,
		    "<text class=\"tick\" data-is=\"axis\" data-v=\"%.3f\" x=\"%.1f\" y=\"%.1f\" "
		    "text-anchor=\"%s\">%s</text><path class=\"grid\" d=\"M%.1f %.1fv-4\"/>",
		    t, x, y, anchor, text, x, y - 10);
}

void html_axis_between(struct buf *b, const struct story_view *s, double y, uint64_t from_ns,
		       uint64_t to_ns)
{
	uint64_t wall = view_wall_ns(s->v, from_ns);
	int64_t zone = html_zone(s) * 1000, span = (to_ns - from_ns) / 1000000;
	/* without a clock, the axis has seconds since the start */
	int64_t from = wall ? (int64_t)(wall / 1000000) + zone : view_seconds(s->v, from_ns) * 1000;
	int64_t step = step_of(span);

	html_printf(b, "<g class=\"axis\" data-y=\"%.1f\">", y);
	if (span <= 0)
		put_tick(b, s, HTML_LEFT, y, view_seconds(s->v, from_ns),
			 html_clock(s, from_ns, 1).s);
	for (int64_t at = (from + step - 1) / step * step; span > 0 && at <= from + span;
	     at += step) {
		double x = HTML_LEFT + (HTML_RIGHT - HTML_LEFT) * (at - from) / span;
		char text[32];

		if (wall)
			put_clock(text, sizeof(text), at, step, html_dated(s));
		else
			snprintf(text, sizeof(text), "%.3g s", at / 1e3);
		put_tick(b, s, x, y, view_seconds(s->v, from_ns) + (at - from) / 1e3, text);
	}
	buf_puts(b, "</g>\n");
}

void html_axis(struct buf *b, const struct story_view *s, double y)
{
	html_axis_between(b, s, y, begin_ns(s), end_ns(s));
}

double html_x(const struct story_view *s, uint64_t t_ns)
{
	uint64_t from = begin_ns(s), to = end_ns(s);

	if (to <= from || t_ns <= from)
		return HTML_LEFT;
	return t_ns >= to ? HTML_RIGHT
			  : HTML_LEFT + (HTML_RIGHT - HTML_LEFT) * (t_ns - from) / (to - from);
}
