/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: configuration files as text: their lines, values, and what they say of one limit. */
#ifndef FS_COLLECT_FILES_FILE_TEXT_H
#define FS_COLLECT_FILES_FILE_TEXT_H

#include <sys/types.h>

#include "model/origin.h"

/* A part of a text that does not end in NUL. */
struct span {
	const char *s;
	size_t len;
};

struct text_lines {
	struct span rest;
	unsigned int line; /* of the one that was given last */
};

/* The next line, without blanks at its ends; false at the end of the text. */
bool text_line(struct text_lines *l, struct span *ret);

/* The next word of a line, which is shortened by it; empty at its end. */
struct span text_word(struct span *line);

/* Splits at the first `at`; both sides without blanks. False where there is none. */
bool text_split(struct span s, char at, struct span *ret_left, struct span *ret_right);

bool text_is(struct span s, const char *word);
struct span text_trim(struct span s);
void text_copy(struct span s, char *ret, size_t size); /* cut at size */

/*
 * A number as systemd, PAM and the kernel's files write it: "65536", "8M" (to the base of 1024),
 * "0x10"; "infinity", "unlimited", "max", "-1" are LIMIT_NONE. -EINVAL for anything else.
 */
int text_number(struct span s, uint64_t *ret);

/* "1024:524288", or one number for both. */
int text_pair(struct span s, uint64_t *ret_soft, uint64_t *ret_hard);

/* Remembers a line of a file. */
void text_keep(struct origin_line *ret, const char *file, unsigned int line, struct span text,
	       struct span value);

/* In /proc/PID/limits. False where the row is not there. */
bool text_rlimit(struct span text, const char *title, uint64_t *ret_soft, uint64_t *ret_hard);

/* In /proc/PID/status, the value behind "PPid:". */
bool text_status(struct span text, const char *key, struct span *ret);

#endif
