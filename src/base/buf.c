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
	if (b->failed || b->fixed || len > BUF_CAP_BYTES || want > BUF_CAP_BYTES)
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
	if (len) /* the pointer to an empty text may be NULL */
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

void buf_vprintf(struct buf *b, const char *format, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, format, ap);
	if (len >= 0 && make_room(b, len)) {
		vsnprintf(b->s + b->len, len + 1, format, again);
		b->len += len;
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vprintf(b, format, ap);
	va_end(ap);
}

void *buf_needs(struct buf *b, void *p)
{
	b->failed |= !p;
	return p;
}

size_t buf_rows(struct buf *b, int n)
{
	b->failed |= n < 0;
	return n < 0 ? 0 : n;
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
	if (!b->fixed)
		free(b->s);
	memset(b, 0, sizeof(*b));
}

void buf_next_part(struct buf *b, struct buf *part)
{
	b->failed |= part->failed;
	buf_clear(part);
}

void buf_end_part(struct buf *b, struct buf *part)
{
	b->failed |= part->failed;
	buf_free(part);
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

size_t utf8_encode(char ret[4], uint32_t code)
{
	if (code < 0x80) {
		ret[0] = code;
		return 1;
	}
	if (code < 0x800) {
		ret[0] = 0xc0 | code >> 6;
		ret[1] = 0x80 | (code & 0x3f);
		return 2;
	}
	if (code < 0x10000) {
		ret[0] = 0xe0 | code >> 12;
		ret[1] = 0x80 | (code >> 6 & 0x3f);
		ret[2] = 0x80 | (code & 0x3f);
		return 3;
	}
	ret[0] = 0xf0 | (code >> 18 & 7);
	ret[1] = 0x80 | (code >> 12 & 0x3f);
	ret[2] = 0x80 | (code >> 6 & 0x3f);
	ret[3] = 0x80 | (code & 0x3f);
	return 4;
}

/*
 * Code points that must be escaped, because they move, hide or end text, and could make one name
 * look like another. They are controls, bidirectional controls, characters without width, fillers,
 * separators and tags: in Unicode 15, the general categories Cc, Cf, Zl and Zp, and the fillers of
 * Lo.
 */
static const struct {
	uint32_t from, to;
} unsafe[] = {
	{0x0, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	    {0x600, 0x605},
	{0x61c, 0x61c},	    {0x6dd, 0x6dd},	{0x70f, 0x70f},	    {0x890, 0x891},
	{0x8e2, 0x8e2},	    {0x115f, 0x1160},	{0x180b, 0x180f},   {0x200b, 0x200f},
	{0x2028, 0x202e},   {0x2060, 0x206f},	{0x3164, 0x3164},   {0xfeff, 0xfeff},
	{0xffa0, 0xffa0},   {0xfff0, 0xfffb},	{0x110bd, 0x110bd}, {0x110cd, 0x110cd},
	{0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool utf8_is_unsafe(uint32_t code)
{
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]) && code >= unsafe[i].from; i++)
		if (code <= unsafe[i].to)
			return true;
	return false;
}

/* Writes a \u escape; above U+FFFF a surrogate pair (RFC 8259, section 7). */
static void put_escape(struct buf *b, uint32_t code)
{
	if (code < 0x10000)
		buf_printf(b, "\\u%04x", code);
	else
		buf_printf(b, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
			   0xdc00 + ((code - 0x10000) & 0x3ff));
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
		else if (!len)
			buf_printf(b, "\\u%04x", c);
		else if (utf8_is_unsafe(code))
			put_escape(b, code);
		else
			buf_add(b, s, len);
		s += len ? len : 1;
	}
	buf_putc(b, '"');
}

void buf_safe(struct buf *b, const char *s, bool unicode)
{
	uint32_t code;

	while (*s) {
		int len = utf8_decode(s, &code);

		if (!len || utf8_is_unsafe(code) || (!unicode && code > 0x7e)) {
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
