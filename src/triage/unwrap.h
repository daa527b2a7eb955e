/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: finds out whether a mail program or a terminal broke the lines of a log, and where. */
#ifndef FS_TRIAGE_UNWRAP_H
#define FS_TRIAGE_UNWRAP_H

#include "triage/shape.h"

struct wrap {
	size_t terminal; /* column at which a terminal broke lines; 0: unbroken */
	size_t mail;   /* column before which a mail program broke lines at a blank; 0: unbroken */
	bool prefixed; /* many lines have a prefix, so that a line without one is a rest */
};

/* Returns the line without the "> " of a quoted mail. */
struct str unquoted(struct str raw);

/* Returns whether a raw line has a prefix of a logger. */
bool has_prefix(const struct shapes *shapes, struct str raw);

/* Finds the widths of a log. */
void wrap_find(struct wrap *ret, const struct shapes *shapes, struct str data);

/* Returns whether a mail program broke a line after `before`, so that `raw` is the rest of it. */
bool wrap_broke(const struct wrap *w, const struct shapes *shapes, struct str before,
		struct str raw);

/* Returns whether a line ends in a backslash, by which its author broke it. */
bool is_continued(struct str line);

/* Removes the next line from the front of `s`, and returns it without its line end. */
struct str next_raw(struct str *s);

/* Returns the index after the terminal escape sequence that starts at `at`. */
size_t escape_end(struct str s, size_t at);

#endif
