/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: a printf() that escapes its text arguments, so that no caller can forget to escape. */
#ifndef FS_BASE_TEXT_FORMAT_H
#define FS_BASE_TEXT_FORMAT_H

#include "base/buf.h"

/* Writes a text, escaped for the output format. */
typedef void escape_fn(struct buf *b, const char *text, const void *ctx);

/*
 * Appends formatted text like buf_vprintf(), but `escape` writes each %s argument. A precision
 * counts bytes of the text, a width counts columns of the output. A text argument NULL is written
 * as "". Supports d i u x c s f g %, l ll z, and *.
 */
void buf_vformat(struct buf *b, escape_fn *escape, const void *ctx, const char *format, va_list ap);

#endif
