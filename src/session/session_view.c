// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses how a session prints: colours, width, and number of processes. */
#include "session/session.h"

#include <stdlib.h>

#include "live/terminal.h"
#include "live/terminal_view.h"

#define DEFAULT_WIDTH 100
#define DEFAULT_TOP   20

void session_measure_view(struct session *s)
{
	const char *columns = getenv("COLUMNS");
	int width = 0, height = 0;

	if (!terminal_size(s->out.fd, &width, &height) && columns)
		width = atoi(columns);
	if (s->o->width)
		width = s->o->width;
	s->out.view.width = width < 40 && !s->out.redraws ? DEFAULT_WIDTH : width;
	s->out.view.height = s->out.redraws ? height : 0;
	/* default size, for a terminal that does not report a size */
	if (s->out.redraws && (!s->out.view.width || !height)) {
		s->out.view.width = 80;
		s->out.view.height = 24;
	}
	s->out.view.top = s->o->top ? s->o->top : s->out.redraws ? 1000 : DEFAULT_TOP;
}

static void write_part(void *ctx, struct buf *b)
{
	struct session *s = ctx;

	if (b == &s->out.text)
		session_flush(s);
}

void session_set_view(struct session *s)
{
	const struct options *o = s->o;
	struct view *v = &s->out.view;
	bool is_text = s->out.renderer == &text_renderer;

	s->out.redraws =
		is_text && s->plan.may_redraw && !s->plan.output && terminal_can_redraw(s->out.fd);
	*v = s->plan.view;
	v->m = &s->in.m;
	v->gaps = &s->out.gaps;
	v->write_part = write_part;
	v->write_ctx = s;
	v->findings = &s->in.findings;
	s->in.findings.keep_cleared = v->command;
	view_choose_style(v, o, terminal_can_redraw(s->out.fd));
	v->addresses = o->addresses;
	v->min_severity = o->min_severity;
	v->sort = o->sort;
	v->tables = o->top || o->sort;
	v->summary = v->command || s->out.redraws;
	v->page = o->summary;
	session_measure_view(s);
}
