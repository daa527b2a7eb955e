// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Draws where a replay is in its recording, and where findings opened. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/tui/tui_parts.h"

#define BAR_LEAST 16 /* minimum width of the bar, in columns */

/* Signs of the bar, in the order in which a later one covers an earlier one. */
enum sign {
	SIGN_UNREAD,
	SIGN_REST,
	SIGN_PASSED,
	SIGN_OPENED,
	SIGN_CRITICAL,
	SIGN_TRIGGER,
	SIGN_HERE,
};

static const struct {
	const char *unicode, *ascii;
	enum style style;
} signs[] = {
	[SIGN_UNREAD] = {"\u2508", ".", STYLE_DIM},	/* dotted line */
	[SIGN_REST] = {"\u2500", "-", STYLE_DIM},	/* thin line */
	[SIGN_PASSED] = {"\u2501", "=", STYLE_ACCENT},	/* thick line */
	[SIGN_OPENED] = {"\u25cf", "o", STYLE_WARNING}, /* disc */
	[SIGN_CRITICAL] = {"\u25cf", "!", STYLE_CRITICAL},
	[SIGN_TRIGGER] = {"\u25b2", "^", STYLE_CRITICAL}, /* triangle */
	[SIGN_HERE] = {"\u2588", "#", STYLE_BOLD},	  /* block */
};

static size_t cell_of(const struct tui_timeline *l, uint64_t t_ns, size_t cells)
{
	double share;

	if (t_ns <= l->begin_ns || l->end_ns <= l->begin_ns)
		return 0;
	share = (double)(t_ns - l->begin_ns) / (l->end_ns - l->begin_ns);
	return share < 1 ? (size_t)(share * cells) : cells - 1;
}

static enum sign sign_of(const struct tui_mark *m)
{
	return m->kind == MARK_TRIGGER	  ? SIGN_TRIGGER
	       : m->kind == MARK_CRITICAL ? SIGN_CRITICAL
					  : SIGN_OPENED;
}

static void write_bar(struct line *l, const struct tui_timeline *t, uint64_t now_ns, size_t cells)
{
	unsigned char sign[512];
	size_t here;

	cells = cells < sizeof(sign) ? cells : sizeof(sign);
	here = cell_of(t, now_ns, cells);
	for (size_t i = 0; i < cells; i++)
		sign[i] = i <= here			       ? SIGN_PASSED
			  : i <= cell_of(t, t->read_ns, cells) ? SIGN_REST
							       : SIGN_UNREAD;
	for (size_t i = 0; i < t->nr_marks; i++) {
		unsigned char *at = &sign[cell_of(t, t->mark[i].t_ns, cells)];

		if (sign_of(&t->mark[i]) > *at)
			*at = sign_of(&t->mark[i]);
	}
	sign[here] = SIGN_HERE;
	for (size_t i = 0; i < cells; i++) {
		line_style(l, signs[sign[i]].style);
		line_printf(l, "%s", l->v->unicode ? signs[sign[i]].unicode : signs[sign[i]].ascii);
	}
	line_style(l, STYLE_PLAIN);
}

void tui_draw_timeline(const struct tui *t, const struct view *v, struct buf *b)
{
	const struct tui_timeline *at = &t->timeline;
	uint64_t now_ns = v->m->last_ns;
	double total = at->end_ns > at->begin_ns ? (at->end_ns - at->begin_ns) / 1e9 : 0;
	double passed = now_ns > at->begin_ns ? (now_ns - at->begin_ns) / 1e9 : 0;
	struct line l = {.v = v};
	char place[96];
	int room;

	snprintf(place, sizeof(place), "%s%s%s of %s", at->now, at->now[0] ? ", " : "",
		 as_span(passed).s, as_span(total).s);
	room = v->width - 5 - (int)strlen(place);
	line_printf(&l, " ");
	if (at->from[0] && room - (int)strlen(at->from) - (int)strlen(at->to) - 2 >= BAR_LEAST) {
		line_printf(&l, "%s ", at->from);
		write_bar(&l, at, now_ns, room - strlen(at->from) - strlen(at->to) - 2);
		line_printf(&l, " %s", at->to);
	} else {
		write_bar(&l, at, now_ns, room > BAR_LEAST ? room : BAR_LEAST);
	}
	line_printf(&l, "  ");
	line_style(&l, STYLE_BOLD);
	line_printf(&l, "%s", place);
	line_end(&l, b, STYLE_PLAIN);
}
