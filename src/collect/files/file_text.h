/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: parses lines, values and limits in the text of configuration files. */
#ifndef FS_COLLECT_FILES_FILE_TEXT_H
#define FS_COLLECT_FILES_FILE_TEXT_H

#include <sys/types.h>

#include "model/origin.h"

/* A part of a text; not NUL-terminated. */
struct span {
	const char *s;
	size_t len;
};

struct text_lines {
	struct span rest;
	unsigned int line; /* number of the last line that was returned */
};

/* Returns the next line, without blanks at its ends. Returns false at the end of the text. */
bool text_line(struct text_lines *l, struct span *ret);

/* Removes the next word from a line and returns the word, which is empty at the end of the line. */
struct span text_word(struct span *line);

/*
 * Splits a text at the first character `at`, and trims both parts. Returns false if the text does
 * not contain `at`.
 */
bool text_split(struct span s, char at, struct span *ret_left, struct span *ret_right);

bool text_is(struct span s, const char *word);
struct span text_trim(struct span s);
void text_copy(struct span s, char *ret, size_t size); /* copies a text, cut to `size` */

/*
 * Parses a number as systemd, PAM and the kernel write it: "65536", "8M" (powers of 1024), "0x10".
 * "infinity", "unlimited", "max" and "-1" give LIMIT_NONE. Returns 0, or -EINVAL for other texts.
 */
int text_number(struct span s, uint64_t *ret);

/* Parses a soft and a hard limit, "1024:524288", or one number for both. */
int text_pair(struct span s, uint64_t *ret_soft, uint64_t *ret_hard);

/* Stores a line of a configuration file with its file name and line number, and the value in it. */
void text_keep(struct origin_line *ret, const char *file, unsigned int line, struct span text,
	       struct span value);

/* Finds a row of /proc/PID/limits by its title. Returns false if the row is missing. */
bool text_rlimit(struct span text, const char *title, uint64_t *ret_soft, uint64_t *ret_hard);

/* Finds a value in /proc/PID/status by its key, such as "PPid", which is given without a colon. */
bool text_status(struct span text, const char *key, struct span *ret);

#endif
