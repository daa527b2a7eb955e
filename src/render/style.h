/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* render: lines of text that are fitted to a width, with or without colour. */
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
	STYLE_SELECTED, /* reverse video over the whole width, even without colour */
};

enum style severity_style(enum severity s);

/* A line that is being written. Set `v`, zero the rest. line_end() and line_wrap() free it. */
struct line {
	const struct view *v;
	struct buf b;
	bool flat; /* the line has a single style: line_style() has no effect */
};

/* Appends formatted text, and escapes unsafe bytes of each %s. */
void line_printf(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
int line_columns(const struct line *l);	   /* Returns the line's width so far, in columns. */
void line_pad(struct line *l, int column); /* Adds blanks up to a column, at least one blank. */

/* Adds a bar of `cells` cells, which is filled up to `share` (0 to 1). */
void line_bar(struct line *l, double share, int cells);

/* Sets the style of the text that follows; without colour, the style has no effect. */
void line_style(struct line *l, enum style style);

/*
 * Adds text in exactly `columns` columns: cuts longer text, and pads shorter text with blanks, on
 * the left if `right` is set.
 */
void line_cell(struct line *l, const char *s, int columns, bool right);

/*
 * Adds a sparkline with one cell per value, the latest on the right. `low` and `high` are the
 * values of the lowest and the highest cell. Equal values are drawn as a horizontal line, and
 * values that are all 0 as blanks.
 */
void line_spark(struct line *l, const double *v, int cells, double low, double high);

/* Adds a line to `b`, cut to the width of the view. */
void line_end(struct line *l, struct buf *b, enum style style);

/*
 * Adds a line to `b`, wrapped at blanks. The second and later lines are indented by `indent`
 * columns, in line_wrap() by 4.
 */
void line_wrap(struct line *l, struct buf *b, enum style style);
void line_wrap_at(struct line *l, struct buf *b, enum style style, int indent);

/* styled_line() adds a whole line, cut to the width of the view; styled_wrap() wraps the line. */
void styled_line(struct buf *b, const struct view *v, enum style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void styled_wrap(struct buf *b, const struct view *v, enum style style, int indent,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds `lead` and text. Wraps the text at blanks to the view's width, indented below its start. */
void text_wrapped(struct buf *b, const struct view *v, const char *lead, const char *text);

#endif
