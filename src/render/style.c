// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/style.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_format.h"

/* Styles on a dark and on a light background, on which yellow and cyan are pale. */
static const char *const sgr[][2] = {
	[STYLE_PLAIN] = {"", ""},
	[STYLE_BOLD] = {"\033[1m", "\033[1m"},
	[STYLE_DIM] = {"\033[2m", "\033[2m"},
	[STYLE_WARNING] = {"\033[1;33m", "\033[1;35m"},
	[STYLE_CRITICAL] = {"\033[1;31m", "\033[1;31m"},
	[STYLE_ACCENT] = {"\033[36m", "\033[34m"},
	[STYLE_GOOD] = {"\033[32m", "\033[32m"},
	[STYLE_SELECTED] = {"\033[7m", "\033[7m"},
};
#define RESET "\033[0m"

enum style severity_style(enum severity s)
{
	return s == SEVERITY_CRITICAL  ? STYLE_CRITICAL
	       : s == SEVERITY_WARNING ? STYLE_WARNING
				       : STYLE_BOLD;
}

static void put_safe(struct buf *b, const char *text, const void *ctx)
{
	const struct view *v = ctx;

	buf_safe(b, text, v->unicode);
}

void line_printf(struct line *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vformat(&l->b, put_safe, l->v, format, ap);
	va_end(ap);
}

int line_columns(const struct line *l)
{
	return l->b.s ? text_columns(l->b.s) : 0;
}

void line_pad(struct line *l, int column)
{
	int at = line_columns(l);

	buf_repeat(&l->b, " ", column > at ? column - at : 1);
}

void line_bar(struct line *l, double share, int cells)
{
	static const char *const eighth[] = {"",       "\u258f", "\u258e", "\u258d",
					     "\u258c", "\u258b", "\u258a", "\u2589"};
	double filled = (share < 0 ? 0 : share > 1 ? 1 : share) * cells;
	int full = filled, rest = (filled - full) * 8;

	if (!l->v->unicode) {
		/* a share above 0 fills at least one cell of the bar */
		full = share > 0 && filled < 1 ? 1 : (int)(filled + 0.5);
		buf_repeat(&l->b, "#", full);
		buf_repeat(&l->b, " ", cells - full);
		return;
	}
	if (share > 0 && !full && !rest)
		rest = 1;
	buf_repeat(&l->b, "\u2588", full);
	if (rest)
		buf_puts(&l->b, eighth[rest]);
	buf_repeat(&l->b, " ", cells - full - (rest ? 1 : 0));
}

/* Returns the length of the escape sequence at `s`, or 0 if there is none. */
static size_t escape_len(const char *s)
{
	size_t n = 2;

	if (s[0] != '\033' || s[1] != '[')
		return 0;
	while (s[n] && (s[n] < '@' || s[n] > '~'))
		n++;
	return s[n] ? n + 1 : n;
}

/* Returns the number of bytes of `s` that fit into `columns` columns. */
static size_t fitting(const char *s, int columns)
{
	size_t at = 0;
	uint32_t code;

	while (s[at] && columns >= 0) {
		size_t escape = escape_len(s + at);
		int len = utf8_decode(s + at, &code);
		char one[8];

		if (escape) {
			at += escape;
			continue;
		}

		if (!len)
			len = 1;
		memcpy(one, s + at, len);
		one[len] = 0;
		columns -= text_columns(one);
		if (columns < 0)
			break;
		at += len;
	}
	return at;
}

static void put_styled(struct line *l, struct buf *b, const char *s, size_t len, enum style style)
{
	bool selected = style == STYLE_SELECTED;
	bool styled = selected || (l->v->colour && style != STYLE_PLAIN);

	if (styled)
		buf_puts(b, sgr[style][l->v->light]);
	while (!selected && len && s[len - 1] == ' ')
		len--;
	buf_add(b, s, len);
	if (styled || memchr(s, '\033', len))
		buf_puts(b, RESET);
	buf_putc(b, '\n');
}

void line_style(struct line *l, enum style style)
{
	if (!l->v->colour || l->flat)
		return;
	buf_puts(&l->b, RESET);
	buf_puts(&l->b, sgr[style][l->v->light]);
}

void line_cell(struct line *l, const char *s, int columns, bool right)
{
	size_t len = fitting(s, columns);
	char *cut = buf_needs(&l->b, len < BUF_CAP_BYTES ? strndup(s, len) : NULL);
	int blanks = cut ? columns - text_columns(cut) : columns;

	if (right)
		buf_repeat(&l->b, " ", blanks);
	buf_puts(&l->b, cut ? cut : "");
	if (!right)
		buf_repeat(&l->b, " ", blanks);
	free(cut);
}

void line_spark(struct line *l, const double *v, int cells, double low, double high)
{
	static const char *const level[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					    "\u2585", "\u2586", "\u2587", "\u2588"};
	static const char plain[] = "_.:-=+*#";
	bool flat = true;

	for (int i = 1; i < cells; i++)
		flat = flat && v[i] == v[0];
	for (int i = 0; i < cells; i++) {
		int n = high > low ? (int)((v[i] - low) / (high - low) * 7.999) : 0;

		n = n < 0 ? 0 : n > 7 ? 7 : n;
		/* draw a value above 0 higher than 0 */
		if (!low && v[i] > 0 && !n)
			n = 1;
		if (flat && v[0] <= 0)
			buf_putc(&l->b, ' ');
		else if (flat)
			buf_puts(&l->b, l->v->unicode ? "\u2500" : "-");
		else if (l->v->unicode)
			buf_puts(&l->b, level[n]);
		else
			buf_putc(&l->b, plain[n]);
	}
}

void line_end(struct line *l, struct buf *b, enum style style)
{
	const char *s;

	if (style == STYLE_SELECTED)
		line_pad(l, l->v->width);
	s = l->b.s ? l->b.s : "";
	put_styled(l, b, s, fitting(s, l->v->width), style);
	buf_end_part(b, &l->b);
}

void line_wrap(struct line *l, struct buf *b, enum style style)
{
	line_wrap_at(l, b, style, 4);
}

void line_wrap_at(struct line *l, struct buf *b, enum style style, int indent)
{
	const char *s = l->b.s ? l->b.s : "";
	int lead = 0;

	while (*s) {
		size_t take = fitting(s, l->v->width - lead);

		if (s[take]) {
			size_t at = take;

			while (at && s[at] != ' ')
				at--;
			if (at)
				take = at;
		}
		buf_repeat(b, " ", lead);
		if (!take && *s) /* if not even one character fits, write all text uncut */
			take = strlen(s);
		put_styled(l, b, s, take, style);
		s += take;
		s += strspn(s, " ");
		lead = indent < l->v->width / 2 ? indent : l->v->width / 2;
	}
	buf_end_part(b, &l->b);
}

void styled_line(struct buf *b, const struct view *v, enum style style, const char *format, ...)
{
	struct line l = {.v = v};
	va_list ap;

	va_start(ap, format);
	buf_vformat(&l.b, put_safe, v, format, ap);
	va_end(ap);
	line_end(&l, b, style);
}

void styled_wrap(struct buf *b, const struct view *v, enum style style, int indent,
		 const char *format, ...)
{
	struct line l = {.v = v};
	va_list ap;

	va_start(ap, format);
	buf_vformat(&l.b, put_safe, v, format, ap);
	va_end(ap);
	line_wrap_at(&l, b, style, indent);
}

void text_wrapped(struct buf *b, const struct view *v, const char *lead, const char *text)
{
	int indent = text_columns(lead), room = v->width - indent;
	const char *at = text;
	bool first = true;

	if (room < 20)
		room = 20;
	while (*at) {
		size_t take = strlen(at);

		if ((int)take > room) {
			take = room;
			while (take > 0 && at[take] != ' ')
				take--;
			/* keep a word whole, such as a command, that is longer than the line */
			if (!take)
				take = strcspn(at, " ");
		}
		if (first)
			buf_puts(b, lead);
		else
			buf_repeat(b, " ", indent);
		buf_printf(b, "%.*s\n", (int)take, at);
		at += take;
		at += strspn(at, " ");
		first = false;
	}
}
