/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: texts of lines `key = value`, which people edit too. Blank lines and lines that begin with
 * # are comments.
 */
#ifndef FS_BASE_KEY_VALUES_H
#define FS_BASE_KEY_VALUES_H

#include "base/buf.h"

enum key_value_line {
	LINE_NONE, /* the text has ended */
	LINE_COMMENT,
	LINE_PAIR,
	LINE_WRONG, /* the line has no = or no key */
};

/* A line of the text; key and value point into the text, and end before blanks. */
struct key_value {
	const char *line, *key, *value;
	size_t line_len, key_len, value_len;
	unsigned int number; /* of the line; the first line is 1 */
};

/* Reads the line at `*at`, and moves `*at` behind it. Zero `ret` before the first line. */
enum key_value_line key_value_next(const char **at, struct key_value *ret);

/*
 * Returns whether `len` bytes are a text that such a file may contain: valid UTF-8 without control
 * characters, except tabs and the ends of lines.
 */
bool key_values_are_text(const char *s, size_t len);

/*
 * Appends `text` with a new value of one key. Other lines stay as they are. If the key has several
 * lines, the first of them gets the value, and the others are left out. If `value` is NULL, all of
 * them are left out.
 */
void key_values_change(struct buf *to, const char *text, const char *key, const char *value);

#endif
