/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: a text buffer that grows up to a cap, and the escapes every output needs. */
#ifndef FS_BASE_BUF_H
#define FS_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUF_CAP_BYTES (64u << 20)

/* Zero-initialise. What does not fit sets `failed` and is dropped; nothing is ever cut mid-write.
 */
struct buf {
	char *s; /* NUL-terminated once anything was added; owned, buf_free() */
	size_t len;
	size_t size;
	bool failed;
};

void buf_add(struct buf *b, const char *s, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_repeat(struct buf *b, const char *s, int times);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* Returns p. Where it is NULL, for want of memory, the text has failed: it would lack a part. */
void *buf_needs(struct buf *b, void *p);
void buf_clear(struct buf *b);
void buf_free(struct buf *b);

/* A JSON string with its quotes: what may not be shown, and invalid UTF-8, as \u escapes (RFC
 * 8259).
 */
void buf_json(struct buf *b, const char *s);

/*
 * Text that is safe on a terminal: control bytes (C0, C1), bidirectional controls and bytes that
 * are no UTF-8 become \xNN; without `unicode` all that is not ASCII does.
 */
void buf_safe(struct buf *b, const char *s, bool unicode);

/* One word of a shell's command: quoted where a byte of it could mean something to the shell. */
void buf_shell(struct buf *b, const char *s);

/* Columns that a string takes on a terminal; escape sequences count 0. */
int text_columns(const char *s);

/* Length of the UTF-8 sequence at s, 0 where it is not one. *ret_code is the code point. */
int utf8_decode(const char *s, uint32_t *ret_code);

/* Whether a code point may not be shown: controls, and what is invisible or moves other text. */
bool utf8_is_unsafe(uint32_t code);

#endif
