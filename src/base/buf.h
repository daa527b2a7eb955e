/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: a text buffer that grows up to a maximum, and escaping for each kind of output. */
#ifndef FS_BASE_BUF_H
#define FS_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BUF_CAP_BYTES (64u << 20)

/*
 * Initialise the buffer with zeros, or with BUF_IN(array), which never allocates memory. A text
 * that does not fit is dropped as a whole, and `failed` is set.
 */
struct buf {
	char *s; /* the text; NULL or NUL-terminated; buf_free() frees it */
	size_t len;
	size_t size;
	bool failed;
	bool fixed; /* true: `s` is an array of the caller, which cannot grow */
};

/* An empty buffer whose text is kept in the array of characters `a`. */
#define BUF_IN(a) ((struct buf){.s = memset((a), 0, sizeof(a)), .size = sizeof(a), .fixed = true})

void buf_add(struct buf *b, const char *s, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_repeat(struct buf *b, const char *s, int times);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Returns p. If p is NULL (out of memory), sets `failed` of the buffer: its text is incomplete. */
void *buf_needs(struct buf *b, void *p);
/* Returns n, a number of rows. If it is -errno, sets `failed` of the buffer and returns 0. */
size_t buf_rows(struct buf *b, int n);
void buf_clear(struct buf *b);
void buf_free(struct buf *b);
/* Frees a part whose text was added to `b`. If the part is incomplete, `b` is incomplete too. */
void buf_end_part(struct buf *b, struct buf *part);
/* Empties such a part instead, for another text. */
void buf_next_part(struct buf *b, struct buf *part);

/* Appends a JSON string with quotes. Unsafe characters and invalid UTF-8 become \u escapes. */
void buf_json(struct buf *b, const char *s);

/*
 * Appends text that is safe on a terminal: control characters (C0, C1), bidirectional controls and
 * invalid UTF-8 become \xNN. If `unicode` is false, all bytes that are not ASCII become \xNN too.
 */
void buf_safe(struct buf *b, const char *s, bool unicode);

/* Appends one word of a shell command, quoted if necessary. */
void buf_shell(struct buf *b, const char *s);

/*
 * Returns the number of columns that a text takes on a terminal. Escape sequences take 0 columns.
 */
int text_columns(const char *s);

/*
 * Returns the length of the UTF-8 sequence at s, or 0 if it is invalid. Sets *ret_code to the code
 * point.
 */
int utf8_decode(const char *s, uint32_t *ret_code);

/* Writes a code point as 1 to 4 bytes of UTF-8, without a NUL. Returns the number of bytes. */
size_t utf8_encode(char ret[4], uint32_t code);

/*
 * Returns whether a code point must be escaped: it is a control, is invisible, or moves other text.
 */
bool utf8_is_unsafe(uint32_t code);

#endif
