// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static bool make_room(struct buf *b, size_t len)
{
	size_t want = b->len + len + 1, size = b->size ? b->size : 256;
	char *s;

	if (want <= b->size)
		return true;
	if (b->failed || len > BUF_CAP_BYTES || want > BUF_CAP_BYTES)
		goto fail;
	while (size < want)
		size *= 2;
	s = realloc(b->s, size);
	if (!s)
		goto fail;
	b->s = s;
	b->size = size;
	return true;
fail:
	b->failed = true;
	return false;
}

void buf_add(struct buf *b, const char *s, size_t len)
{
	if (!make_room(b, len))
		return;
	memcpy(b->s + b->len, s, len);
	b->len += len;
	b->s[b->len] = 0;
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_repeat(struct buf *b, const char *s, int times)
{
	while (times-- > 0)
		buf_puts(b, s);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;
	int len;

	va_start(ap, format);
	len = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (len < 0 || !make_room(b, len))
		return;
	va_start(ap, format);
	vsnprintf(b->s + b->len, len + 1, format, ap);
	va_end(ap);
	b->len += len;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->s)
		b->s[0] = 0;
}

void buf_free(struct buf *b)
{
	free(b->s);
	memset(b, 0, sizeof(*b));
}

int utf8_decode(const char *s, uint32_t *ret_code)
{
	const unsigned char *p = (const unsigned char *)s;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	int len;

	if (p[0] < 0x80)
		return *ret_code = p[0], p[0] ? 1 : 0;
	if (p[0] >= 0xc2 && p[0] < 0xe0)
		len = 2, code = p[0] & 0x1f;
	else if (p[0] >= 0xe0 && p[0] < 0xf0)
		len = 3, code = p[0] & 0x0f;
	else if (p[0] >= 0xf0 && p[0] < 0xf5)
		len = 4, code = p[0] & 0x07;
	else
		return 0;
	for (int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return len;
}

void buf_json(struct buf *b, const char *s)
{
	uint32_t code;

	buf_putc(b, '"');
	while (*s) {
		unsigned char c = *s;
		int len = utf8_decode(s, &code);

		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c == '\n')
			buf_puts(b, "\\n");
		else if (c == '\t')
			buf_puts(b, "\\t");
		else if (c < 0x20 || c == 0x7f || !len)
			buf_printf(b, "\\u%04x", c);
		else
			buf_add(b, s, len);
		s += len ? len : 1;
	}
	buf_putc(b, '"');
}

/* Code points that move or hide text: Unicode 15, bidirectional controls, zero width, separators.
 */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

void buf_safe(struct buf *b, const char *s, bool unicode)
{
	uint32_t code;

	while (*s) {
		int len = utf8_decode(s, &code);

		if (!len || is_unsafe(code) || (!unicode && code > 0x7e)) {
			if (!len)
				len = 1;
			for (int i = 0; i < len; i++)
				buf_printf(b, "\\x%02x", (unsigned char)s[i]);
		} else {
			buf_add(b, s, len);
		}
		s += len;
	}
}

void buf_shell(struct buf *b, const char *s)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "@%_+=:,./-";

	if (*s && !s[strspn(s, plain)]) {
		buf_puts(b, s);
		return;
	}
	buf_putc(b, '\'');
	for (; *s; s++)
		if (*s == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *s);
	buf_putc(b, '\'');
}

int text_columns(const char *s)
{
	int columns = 0;
	uint32_t code;

	while (*s) {
		int len, width;

		if (s[0] == '\033' && s[1] == '[') {
			for (s += 2; *s && (*s < '@' || *s > '~'); s++)
				;
			if (*s)
				s++;
			continue;
		}
		len = utf8_decode(s, &code);
		width = len ? wcwidth((wchar_t)code) : 1;
		columns += width > 0 ? width
			   : len     ? (code >= 0x2500 && code < 0x2600) || code == 0xb5
				     : 1;
		s += len ? len : 1;
	}
	return columns;
}
