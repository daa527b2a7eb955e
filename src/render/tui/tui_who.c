// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes who a process is: its name, findings, workload, user, parent and command line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/tui/tui_parts.h"

#define SCROLL_COLUMNS 8  /* columns by which a key scrolls a command line */
#define LEFT_COLUMNS   20 /* columns of a command line that are not scrolled out of view */

/*
 * Writes the ids of a process's open findings, the most severe first, and the time until the first
 * of its limits is reached.
 */
static void write_ids(struct line *l, const struct subject *s)
{
	const struct findings *all = l->v->findings;
	double left = INFINITY;

	for (int severity = NR_SEVERITIES - 1; severity >= 0; severity--)
		for (size_t i = 0; i < all->n; i++) {
			const struct finding *f = &all->f[i];

			if (!f->open || (int)f->severity != severity ||
			    !same_subject(&f->subject, &s->id))
				continue;
			line_style(l, severity_style(f->severity));
			line_printf(l, " %s%s", severity == SEVERITY_CRITICAL ? "!" : "",
				    f->rule->id);
			if (f->forecast.known && f->forecast.seconds < left)
				left = f->forecast.seconds;
			line_style(l, STYLE_PLAIN);
		}
	if (left < INFINITY && !s->final)
		line_printf(l, " full in %s", as_span(left).s);
}

/* Writes that a process ended, and when: in minutes and seconds, as the first line shows now. */
static void write_end(struct line *l, const struct subject *s)
{
	char name[24];

	line_printf(l, " (ended %s%s%s)", as_clock(view_seconds(l->v, s->last_ns)).s,
		    s->signal ? ", " : "",
		    s->signal ? signal_name(s->signal, name, sizeof(name)) : "");
}

/* Returns the arguments after the name of the program, which may be empty. */
static const char *arguments_of(const char *command)
{
	const char *at = strchr(command, ' ');

	return at ? at + 1 : "";
}

/* Appends text whose bytes another user chose, without its first `skip` columns. */
static void put_scrolled(struct line *l, const char *text, int skip)
{
	struct buf safe = {};
	const char *at;
	uint32_t code;

	buf_safe(&safe, text, l->v->unicode);
	if (skip > text_columns(safe.s ? safe.s : "") - LEFT_COLUMNS)
		skip = text_columns(safe.s ? safe.s : "") - LEFT_COLUMNS;
	at = safe.s ? safe.s : "";
	if (skip > 0)
		buf_puts(&l->b, l->v->unicode ? "\u2026" : "<");
	for (int n = 0; n < skip && *at; n++) {
		int len = utf8_decode(at, &code);

		at += len ? len : 1;
	}
	buf_puts(&l->b, at);
	buf_end_part(&l->b, &safe);
}

static void write_state(const struct tui *t, struct line *l, const struct subject *s)
{
	if (s->final && t->ended)
		write_end(l, s);
	else if (s->final)
		line_printf(l, " (ended)");
	if (s->now.g.flags & PROC_SHARES_MM)
		line_printf(l, " (vfork)");
	write_ids(l, s);
}

/* Writes the command line of a process in place of its name. */
static void write_command(const struct tui *t, struct line *l, const struct subject *s, int skip)
{
	if (s->command)
		put_scrolled(l, s->command, skip);
	else if (s->exe)
		put_scrolled(l, s->exe, skip);
	else
		line_printf(l, "[%s]", s->now.g.comm);
}

void tui_put_who(const struct tui *t, struct line *l, const struct row *r, size_t scrolled)
{
	const struct subject *s = r->s;
	int skip = SCROLL_COLUMNS * (int)scrolled;
	struct workload_of_process of;
	char workload[256];

	if (t->commands) {
		size_t from = l->b.len;

		write_state(t, l, s);
		if (l->b.len > from)
			line_printf(l, " ");
		write_command(t, l, s, skip);
		return;
	}
	line_printf(l, "%s", s->now.g.comm);
	write_state(t, l, s);
	of = workload_of_subject(s);
	of.comm = ""; /* the line begins with it */
	workload_name(&of, workload, sizeof(workload));
	line_style(l, STYLE_DIM);
	if (workload[0] && t->tree != TREE_OF_CGROUPS && l->v->width >= TUI_WIDE)
		line_printf(l, "  %s", workload);
	line_printf(l, "  ");
	if (s->command)
		put_scrolled(l, arguments_of(s->command), skip);
	else if (s->exe)
		put_scrolled(l, s->exe, skip);
	line_style(l, STYLE_PLAIN);
}

void tui_put_user(struct buf *b, const struct subject *s)
{
	if (s->user)
		buf_puts(b, s->user);
	else
		buf_printf(b, "%u", s->now.g.uid);
}

void tui_write_identity(struct buf *b, const struct view *v, const struct subject *s)
{
	const struct subject *parent = model_living(v->m, s->now.g.ppid);
	struct line l = {.v = v};

	line_printf(&l, " user      ");
	if (s->user)
		line_printf(&l, "%s (uid %u)", s->user, s->now.g.uid);
	else
		line_printf(&l, "uid %u", s->now.g.uid);
	if (parent)
		line_printf(&l, "  parent %s[%u]", parent->now.g.comm, parent->id.pid);
	else if (s->now.g.ppid)
		line_printf(&l, "  parent pid %u", s->now.g.ppid);
	if (s->cgroup)
		line_printf(&l, "  cgroup %s", s->cgroup);
	line_wrap_at(&l, b, STYLE_PLAIN, 11);
	if (!s->command)
		return;
	l = (struct line){.v = v};
	line_printf(&l, " command   %s", s->command);
	line_wrap_at(&l, b, STYLE_PLAIN, 11);
}
