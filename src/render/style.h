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
	STYLE_SELECTED, /* the whole width, reversed: without colour too */
};

enum style severity_style(enum severity s);

/* A line under construction; set `v`, zero the rest. line_end() frees it. */
struct line {
	const struct view *v;
	struct buf b;
	bool flat; /* of one style from end to end */
};

/* Hostile bytes of each %s are escaped. */
void line_printf(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
int line_columns(const struct line *l);	   /* that it takes so far */
void line_pad(struct line *l, int column); /* with blanks up to a column, at least one */

/* A bar of `cells` cells, filled by a share of 0 to 1. */
void line_bar(struct line *l, double share, int cells);

/* What follows is in this style, where there is colour. */
void line_style(struct line *l, enum style style);

/* Text in so many columns: cut, or filled up with blanks before it (right) or behind it. */
void line_cell(struct line *l, const char *s, int columns, bool right);

/*
 * The last values, one a cell, the latest at the right. What counts is drawn from 0; what does not,
 * by its change, of which less than a tenth is little. All 0: blanks.
 */
void line_spark(struct line *l, const double *v, int cells, bool counts);

/* Adds the line to `b`, cut to the view's width. */
void line_end(struct line *l, struct buf *b, enum style style);

/* Adds the line to `b`, broken at blanks instead of cut; what follows is indented, by 4 or so. */
void line_wrap(struct line *l, struct buf *b, enum style style);
void line_wrap_at(struct line *l, struct buf *b, enum style style, int indent);

/* A whole line: cut to the view's width, or broken at blanks. */
void styled_line(struct buf *b, const struct view *v, enum style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void styled_wrap(struct buf *b, const struct view *v, enum style style, int indent,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Text behind a lead, broken at blanks to the view's width. */
void text_wrapped(struct buf *b, const struct view *v, const char *lead, const char *text);

#endif
