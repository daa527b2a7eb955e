/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: lines of text that fit a width, with or without colour. */
#ifndef FS_RENDER_STYLE_H
#define FS_RENDER_STYLE_H

#include "render/render.h"

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_WARNING,
	STYLE_CRITICAL,
	STYLE_ACCENT,
	STYLE_GOOD,
	STYLE_SELECTED, /* reverse video over the whole width, also without colour */
};

enum style severity_style(enum severity s);

/* A line under construction. Set `v`, zero the rest. line_end() and line_wrap() free it. */
struct line {
	const struct view *v;
	struct buf b;
	bool flat; /* the line has one style: line_style() has no effect */
};

/* Appends text; unsafe bytes of each %s are escaped. */
void line_printf(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
int line_columns(const struct line *l);	   /* Returns the width of the line so far. */
void line_pad(struct line *l, int column); /* Adds blanks up to a column; at least one. */

/* Adds a bar of `cells` cells, of which the share `share` (0 to 1) is filled. */
void line_bar(struct line *l, double share, int cells);

/* Sets the style of the text that follows; without colour, has no effect. */
void line_style(struct line *l, enum style style);

/* Adds text in exactly `columns` columns: cut, or padded with blanks, on the left if `right`. */
void line_cell(struct line *l, const char *s, int columns, bool right);

/*
 * Adds a sparkline: one cell per value, the latest on the right. If `counts`, the scale starts at
 * 0. Else it starts at the lowest value, but at most at 90 % of the highest, so that small changes
 * look small. Blanks if all values are 0.
 */
void line_spark(struct line *l, const double *v, int cells, bool counts);

/* Adds the line to `b`, cut to the view's width. */
void line_end(struct line *l, struct buf *b, enum style style);

/* Adds the line to `b`, wrapped at blanks. Later lines are indented by `indent` (line_wrap: 4). */
void line_wrap(struct line *l, struct buf *b, enum style style);
void line_wrap_at(struct line *l, struct buf *b, enum style style, int indent);

/* Adds a whole line: styled_line() cuts it to the view's width, styled_wrap() wraps it. */
void styled_line(struct buf *b, const struct view *v, enum style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void styled_wrap(struct buf *b, const struct view *v, enum style style, int indent,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds `lead` and the text, wrapped at blanks to the view's width and indented below itself. */
void text_wrapped(struct buf *b, const struct view *v, const char *lead, const char *text);

#endif
