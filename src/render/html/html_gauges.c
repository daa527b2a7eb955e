// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws values beside their limits over time, and lists which limit is reached next. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/fields.h"
#include "model/series.h"
#include "render/html/html.h"

#define LEFT  HTML_LEFT
#define RIGHT HTML_RIGHT
#define TOP   14.0
#define BASE  104.0
#define HIGH  122.0

#define GAUGES_SHOWN 12
#define NEXT_SHOWN   8
#define FULL_SHARE   0.98 /* from this share on, a limit counts as reached */

/* A resource of a process, its cgroup or the host, beside its limit. */
struct gauge {
	const struct history_row *row;	   /* NULL: the host */
	const struct history_level *level; /* cgroup with a memory limit; NULL: another resource */
	enum resource_id id;
	const struct series *series; /* NULL: of a cgroup of which no process has one */
	uint64_t limit, high;
	uint64_t now; /* last value; of a cgroup, of what is not reclaimable */
	double share; /* of `high` */
	struct forecast forecast;
	bool ended;
	bool killed; /* cgroup in which the OOM killer killed a process */
};

static struct number_text amount(const struct gauge *g, uint64_t n)
{
	return resources[g->id].bytes ? as_bytes(n) : as_count(n);
}

/* Writes whose resource it is. */
static void put_who(struct buf *b, const struct gauge *g)
{
	if (g->level)
		html_printf(b, "<span data-is=\"cgroup\">cgroup %s</span>", g->level->path);
	else if (!g->row)
		buf_puts(b, "this host");
	else if (resources[g->id].scope == OF_CGROUP && g->row->cgroup)
		html_printf(b, "<span data-is=\"cgroup\">cgroup %s</span>", g->row->cgroup);
	else
		html_printf(b, "<span data-is=\"process\" data-pid=\"%u\">%s[%u]</span>",
			    g->row->id.pid, g->row->comm, g->row->id.pid);
}

static const char *what_of(const struct gauge *g)
{
	return g->level ? "memory" : resources[g->id].what;
}

static bool is_full(const struct gauge *g)
{
	return !g->ended && !g->forecast.known && g->now >= FULL_SHARE * g->limit;
}

/*
 * Full gauges come first, then the one that will be full first, then cgroups with a kill, then the
 * fullest one.
 */
static int by_end(const void *a, const void *b)
{
	const struct gauge *x = a, *y = b;

	if (is_full(x) != is_full(y))
		return is_full(x) ? -1 : 1;
	if (x->forecast.known != y->forecast.known)
		return x->forecast.known ? -1 : 1;
	if (x->forecast.known && x->forecast.seconds != y->forecast.seconds)
		return x->forecast.seconds < y->forecast.seconds ? -1 : 1;
	if (x->killed != y->killed)
		return x->killed ? -1 : 1;
	if (x->ended != y->ended)
		return x->ended ? 1 : -1;
	return x->share < y->share ? 1 : x->share > y->share ? -1 : 0;
}

/* Returns the peak of a value: the kernel counts peaks of mappings and fds exactly. */
static uint64_t high_of(const struct history_row *r, enum resource_id id, const struct series *x)
{
	uint64_t high = x->point[x->n - 1].high;
	uint64_t exact = r && id == RESOURCE_MAPS  ? history_field(r, FIELD(map_high))
			 : r && id == RESOURCE_FDS ? history_field(r, FIELD(fd_high))
						   : 0;

	return exact ? exact : high;
}

/* Returns the last value of a resource: the series has peaks. */
static uint64_t now_of(const struct history_row *r, enum resource_id id, const struct series *x)
{
	return r && id == RESOURCE_MAPS	 ? history_field(r, FIELD(map_count))
	       : r && id == RESOURCE_FDS ? history_field(r, FIELD(fds))
					 : x->point[x->n - 1].high;
}

/* Returns whether two gauges show the same resource: of one user, or of one cgroup. */
static bool is_same(const struct gauge *x, const struct gauge *y)
{
	if (!x->row || !y->row || x->id != y->id || x->limit != y->limit || x->level || y->level)
		return false;
	if (x->id == RESOURCE_THREADS)
		return x->row->uid == y->row->uid;
	return resources[x->id].scope == OF_CGROUP && x->row->cgroup && y->row->cgroup &&
	       !strcmp(x->row->cgroup, y->row->cgroup);
}

static void add_gauge(struct gauge *g, size_t *n, const struct story_view *s,
		      const struct history_row *r, enum resource_id id, const struct series *x,
		      uint64_t limit)
{
	struct gauge one = {.row = r, .id = id, .series = x, .limit = limit};

	if (!x || !x->n || !limit || limit == UINT64_MAX)
		return;
	one.ended = r && r->final;
	one.high = high_of(r, id, x);
	one.now = now_of(r, id, x);
	one.share = (double)one.high / limit;
	if (!one.ended)
		one.forecast = series_forecast(x, s->h->last_ns, limit);
	for (size_t i = 0; i < *n; i++)
		if (is_same(&g[i], &one)) {
			if (by_end(&one, &g[i]) < 0)
				g[i] = one;
			return;
		}
	g[(*n)++] = one;
}

static uint64_t peak_of(const struct history *h, const uint64_t *value)
{
	uint64_t most = 0;

	for (size_t i = 0; i < h->points; i++)
		if (value[i] != UINT64_MAX && value[i] > most)
			most = value[i];
	return most;
}

/* Returns the last known value; 0: none is known. */
static uint64_t last_of(const struct history *h, const uint64_t *value)
{
	for (size_t i = h->points; i--;)
		if (value[i] != UINT64_MAX)
			return value[i];
	return 0;
}

/* Returns the process that an event killed in a cgroup; NULL: the event is no such kill. */
static const struct history_row *killed_in(const struct story_view *s, const union event *e,
					   const struct history_level *l)
{
	const struct history_row *r =
		e->h.kind == RECORD_OOM ? history_find(s->h, &e->oom.subject) : NULL;

	return r && cgroup_is_within(r->cgroup, l->path) ? r : NULL;
}

/* Adds a cgroup. Its forecast is that of a process in it that still lives. */
static void add_level(struct gauge *g, size_t *n, const struct story_view *s,
		      const struct history_level *l)
{
	struct gauge one = {.level = l, .id = RESOURCE_CGROUP_MEMORY, .limit = l->limit};

	one.high = peak_of(s->h, l->used);
	one.now = last_of(s->h, l->kept);
	one.share = (double)one.high / l->limit;
	one.ended = true;
	for (size_t i = 0; i < s->h->events; i++)
		one.killed |= killed_in(s, &s->h->event[i], l) != NULL;
	for (size_t i = 0; i < s->h->rows; i++) {
		const struct history_row *r = &s->h->row[i];

		if (r->final || !cgroup_is_within(r->cgroup, l->path))
			continue;
		one.ended = false;
		if (!one.series && r->series[RESOURCE_CGROUP_MEMORY] &&
		    r->limit[RESOURCE_CGROUP_MEMORY] == l->limit)
			one.series = r->series[RESOURCE_CGROUP_MEMORY];
	}
	if (one.series)
		one.forecast = series_forecast(one.series, s->h->last_ns, l->limit);
	if (one.share * 100 >= resources[RESOURCE_CGROUP_MEMORY].watch_percent)
		g[(*n)++] = one;
}

static size_t find_gauges(const struct story_view *s, struct gauge *ret)
{
	const struct history *h = s->h;
	size_t n = 0;

	for (size_t i = 0; i < h->levels.n; i++)
		add_level(ret, &n, s, &h->levels.level[i]);
	for (int id = NR_PROCESS_RESOURCES; id < NR_RESOURCES; id++)
		add_gauge(ret, &n, s, NULL, id, resource_series(s->v->m, NULL, id),
			  resource_limit(s->v->m, NULL, id));
	for (size_t i = 0; i < h->rows; i++)
		for (int id = 0; id < NR_PROCESS_RESOURCES; id++)
			if (id != RESOURCE_CGROUP_MEMORY)
				add_gauge(ret, &n, s, &h->row[i], id, h->row[i].series[id],
					  h->row[i].limit[id]);
	qsort(ret, n, sizeof(*ret), by_end);
	return n;
}

/* The horizontal axis of a chart: the recording, and the time of the forecast after it. */
struct span {
	uint64_t from_ns, to_ns;
};

static double x_in(const struct span *p, uint64_t t_ns)
{
	if (t_ns <= p->from_ns || p->to_ns <= p->from_ns)
		return LEFT;
	return t_ns >= p->to_ns
		       ? RIGHT
		       : LEFT + (RIGHT - LEFT) * (t_ns - p->from_ns) / (p->to_ns - p->from_ns);
}

static double y_of(const struct gauge *g, uint64_t n)
{
	return n >= g->limit ? TOP : BASE - (BASE - TOP) * n / g->limit;
}

static struct span span_of(const struct story_view *s, const struct gauge *g)
{
	uint64_t from = s->h->point[0].from_ns, to = s->h->last_ns;
	double ahead = g->forecast.high * 1.05e9;

	if (g->forecast.known)
		to += ahead < 3.0 * (to - from) ? (uint64_t)ahead : to - from;
	return (struct span){from, to};
}

/* Draws the forecast from the last value to the interval in which the limit may be reached. */
static void put_band(struct buf *b, const struct story_view *s, const struct gauge *g,
		     const struct span *p)
{
	uint64_t now = s->h->last_ns;
	double x = x_in(p, now), y = y_of(g, g->high);

	buf_printf(b,
		   "<path class=\"band\" d=\"M%.1f %.1fL%.1f %.1fH%.1fZ\"/><path class=\"fit\" "
		   "d=\"M%.1f %.1fL%.1f %.1f\"/>",
		   x, y, x_in(p, now + count_of_real(g->forecast.low * 1e9)), TOP,
		   x_in(p, now + count_of_real(g->forecast.high * 1e9)), x, y,
		   x_in(p, now + count_of_real(g->forecast.seconds * 1e9)), TOP);
}

/* A line through values in the order of time, of which some are unknown. */
struct line {
	bool is_drawn; /* the value before is known: the line goes on */
	double x, y;   /* end of the line so far */
	bool is_level; /* the end is not written: the line is level there */
};

static void end_level(struct buf *b, struct line *l)
{
	if (l->is_level)
		html_at(b, "H", l->x);
	l->is_level = false;
}

/* Adds a value to a line. Writes only the ends of a part of a line that is level. */
static void put_point(struct buf *b, struct line *l, double x, double y)
{
	y = round(y * 10) / 10;
	if (l->is_drawn && y == l->y) {
		l->is_level = true;
	} else {
		end_level(b, l);
		html_at(b, l->is_drawn ? "L" : "M", x);
		html_at(b, " ", y);
	}
	*l = (struct line){true, x, y, l->is_level};
}

/* Draws a series. It has no points while the value stays equal, so it goes on to the last scan. */
static void put_series(struct buf *b, const struct story_view *s, const struct gauge *g,
		       const struct span *p)
{
	const struct series *x = g->series;
	double y = y_of(g, x->point[x->n - 1].high);
	uint64_t end = g->ended ? x->point[x->n - 1].t_ns : s->h->last_ns;
	struct line l = {};

	buf_puts(b, "<path class=\"line\" d=\"");
	for (uint32_t i = 0; i < x->n; i++)
		put_point(b, &l, x_in(p, x->point[i].t_ns), y_of(g, x->point[i].high));
	put_point(b, &l, x_in(p, end), y);
	end_level(b, &l);
	buf_printf(b, "\"/><circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x_in(p, end),
		   y);
}

/* Draws the values of a cgroup by point of the history, without a line where none was read. */
static void put_values(struct buf *b, const struct story_view *s, const struct gauge *g,
		       const struct span *p, const uint64_t *value, const char *style)
{
	struct line l = {};

	buf_printf(b, "<path class=\"%s\" d=\"", style);
	for (size_t i = 0; i < s->h->points; i++) {
		if (value[i] != UINT64_MAX) {
			put_point(b, &l, x_in(p, s->h->point[i].to_ns), y_of(g, value[i]));
		} else {
			end_level(b, &l);
			l.is_drawn = false;
		}
	}
	end_level(b, &l);
	buf_puts(b, "\"/>");
}

/* Marks the OOM kills in a cgroup. */
static void put_kills(struct buf *b, const struct story_view *s, const struct gauge *g,
		      const struct span *p)
{
	for (size_t i = 0; i < s->h->events; i++) {
		const union event *e = &s->h->event[i];
		const struct history_row *r = killed_in(s, e, g->level);
		double x = x_in(p, e->h.t_ns);

		if (!r)
			continue;
		html_printf(b,
			    "<path class=\"mark critical\" d=\"M%.1f %.1fV%.1f\"/><text "
			    "class=\"tick\" data-is=\"process\" data-pid=\"%u\" x=\"%.1f\" "
			    "y=\"%.1f\" text-anchor=\"end\">OOM kill: %s[%u]</text>",
			    x, TOP, BASE, r->id.pid, x - 4, BASE - 6, r->comm, r->id.pid);
	}
}

static void put_scale(struct buf *b, const struct gauge *g)
{
	for (int half = 0; half <= 2; half++) {
		uint64_t n = half == 2 ? g->limit : g->limit / 2 * half;
		double y = BASE - (BASE - TOP) * half / 2;

		html_printf(b,
			    "<path class=\"%s\" d=\"M%.0f %.1fH%.0f\"/><text class=\"tick\" "
			    "data-is=\"limit:%d\" data-v=\"%.17g\" x=\"%.0f\" y=\"%.1f\" "
			    "text-anchor=\"end\">%s</text>",
			    half == 2 ? "limit" : "grid", LEFT, y, RIGHT, half, (double)n, LEFT - 8,
			    y + 4, amount(g, n).s);
	}
}

/* Draws memory.high of a cgroup that has memory.max, too. */
static void put_high(struct buf *b, const struct gauge *g)
{
	double y = y_of(g, g->level->high);

	if (g->level->high >= g->limit)
		return;
	html_printf(b,
		    "<path class=\"limit\" d=\"M%.0f %.1fH%.0f\"/><text class=\"tick\" "
		    "data-is=\"memory-high\" data-v=\"%.17g\" x=\"%.0f\" y=\"%.1f\">memory.high "
		    "%s</text>",
		    LEFT, y, RIGHT, (double)g->level->high, LEFT + 6, y - 4,
		    as_bytes(g->level->high).s);
}

static void put_end(struct buf *b, const struct story_view *s, const struct gauge *g)
{
	const struct forecast *c = &g->forecast;

	if (c->known) {
		buf_puts(b, ", full at about <strong>");
		html_time(b, s, "full", s->h->last_ns + count_of_real(c->seconds * 1e9));
		buf_puts(b, "</strong>, in ");
		html_value(b, "span", c->seconds, as_span(c->seconds).s);
		buf_puts(b, " (");
		html_value(b, "span", c->low, as_span(c->low).s);
		buf_puts(b, " to ");
		html_value(b, "span", c->high, as_span(c->high).s);
		buf_puts(b, ")");
	} else if (g->ended && g->row) {
		buf_puts(b, ", ended at ");
		html_time(b, s, "ended", g->row->last_ns);
	} else if (g->ended) {
		buf_puts(b, ", no process of it is left");
	} else if (is_full(g)) {
		buf_printf(b, ", <strong>%s</strong>", g->now >= g->limit ? "full" : "nearly full");
	} else if (g->level && g->share >= FULL_SHARE) {
		buf_puts(b, ", most of which the kernel can reclaim");
	} else if (g->share >= FULL_SHARE) {
		buf_puts(b, ", now ");
		html_value(b, "now", g->now, amount(g, g->now).s);
	} else {
		buf_puts(b, ", no forecast: it does not grow steadily");
	}
}

static void put_caption(struct buf *b, const struct story_view *s, const struct gauge *g)
{
	char share[32];

	buf_puts(b, "<strong>");
	put_who(b, g);
	html_printf(b, "</strong> %s: ", what_of(g));
	html_value(b, "high", g->high, amount(g, g->high).s);
	buf_puts(b, " of ");
	html_value(b, "limit", g->limit, amount(g, g->limit).s);
	html_printf(b, " <span class=\"dim\">%s</span> (",
		    g->level && g->level->high == g->limit ? "memory.high"
							   : resources[g->id].limit);
	snprintf(share, sizeof(share), "%.1f%%", 100 * g->share);
	html_value(b, "share", 100 * g->share, share);
	buf_puts(b, ")");
	put_end(b, s, g);
}

/* Writes which resource the numbers in an element belong to. */
static void put_attributes(struct buf *b, const struct gauge *g)
{
	buf_printf(b, " data-resource=\"%s\" data-limit=\"%.17g\"", resources[g->id].limit,
		   (double)g->limit);
	if (g->row)
		buf_printf(b, " data-pid=\"%u\" data-start=\"%" PRIu64 "\"", g->row->id.pid,
			   (uint64_t)g->row->id.start_ns);
	if (g->level)
		html_printf(b, " data-cgroup=\"%s\"", g->level->path);
}

static void put_gauge(struct buf *b, const struct story_view *s, const struct gauge *g, size_t nth)
{
	struct span p = span_of(s, g);

	buf_puts(b, "<figure class=\"gauge\"");
	put_attributes(b, g);
	buf_printf(b, "><figcaption id=\"gauge-%zu\">", nth);
	put_caption(b, s, g);
	buf_printf(b,
		   "</figcaption><div class=\"chart wide\"><svg viewBox=\"0 0 1000 %.0f\" "
		   "role=\"img\" aria-labelledby=\"gauge-%zu\" data-from=\"%.6f\" "
		   "data-to=\"%.6f\">",
		   HIGH, nth, view_seconds(s->v, p.from_ns), view_seconds(s->v, p.to_ns));
	put_scale(b, g);
	if (g->level) {
		put_high(b, g);
		put_values(b, s, g, &p, g->level->used, "line");
		put_values(b, s, g, &p, g->level->kept, "line kept");
		put_kills(b, s, g, &p);
	} else {
		put_series(b, s, g, &p);
	}
	if (g->forecast.known)
		put_band(b, s, g, &p);
	html_axis_between(b, s, HIGH - 4, p.from_ns, p.to_ns);
	buf_puts(b, "</svg></div>");
	buf_puts(b, "</figure>\n");
}

static bool is_next(const struct gauge *g)
{
	return is_full(g) || g->forecast.known;
}

/* Lists the limits that are reached, or will be, in the order of time. */
void html_next(struct buf *b, const struct story_view *s, const struct gauge_list *all)
{
	const struct gauge *g = all->of;
	size_t shown = 0;

	for (size_t i = 0; i < all->n && shown < NEXT_SHOWN; i++) {
		if (!is_next(&g[i]))
			continue;
		if (!shown++)
			buf_puts(b, "<h3>Next to reach a limit</h3><ol class=\"next\" "
				    "id=\"next\">\n");
		buf_puts(b, "<li");
		put_attributes(b, &g[i]);
		buf_puts(b, ">");
		put_caption(b, s, &g[i]);
		buf_puts(b, "</li>\n");
	}
	if (shown)
		buf_puts(b, "</ol>\n");
}

void html_find_gauges(struct buf *b, const struct story_view *s, struct gauge_list *ret)
{
	size_t room = NR_PROCESS_RESOURCES * s->h->rows + NR_RESOURCES + s->h->levels.n;

	ret->of = buf_needs(b, calloc(room, sizeof(*ret->of)));
	ret->n = ret->of && s->h->points ? find_gauges(s, ret->of) : 0;
}

void html_gauges(struct buf *b, const struct story_view *s, const struct gauge_list *all)
{
	html_section(b, "gauges", "Limits and when they are reached",
		     "The peak so far, beside the limit; of a cgroup, the memory in use, and below "
		     "it the part that is not reclaimable. The wedge shows when the limit is "
		     "reached if growth continues. Processes that ended have no forecast.");
	if (!all->n)
		buf_puts(b, "<p class=\"note\" data-is=\"words\">No process used 10 % of a limit "
			    "of its own.</p>\n");
	for (size_t i = 0; i < all->n && i < GAUGES_SHOWN; i++)
		put_gauge(b, s, &all->of[i], i);
	if (all->n > GAUGES_SHOWN)
		html_note(b, "gauges", all->n - GAUGES_SHOWN, " more values are below these.");
	html_section_end(b);
}
