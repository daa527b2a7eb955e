/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: a printf() whose texts are escaped, so that no caller can forget it. */
#ifndef FS_BASE_TEXT_FORMAT_H
#define FS_BASE_TEXT_FORMAT_H

#include "base/buf.h"

/* Writes a text so that the output cannot take it for anything else. */
typedef void escape_fn(struct buf *b, const char *text, const void *ctx);

/*
 * As buf_vprintf(), but each %s is written by `escape`. Its precision counts bytes of the text, its
 * width columns of the output. NULL is written as "". It knows d i u x c s f g %, l ll z, and *.
 */
void buf_vformat(struct buf *b, escape_fn *escape, const void *ctx, const char *format, va_list ap);

#endif
