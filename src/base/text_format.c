// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/text_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct conversion {
	char flags[8];
	int width, precision; /* width and precision of a conversion; precision < 0: none */
	int longs;	      /* number of `l` modifiers of a conversion: 0, 1 or 2 */
	char type;
};

/* Parses a number of the format. Returns the position after the number. */
static const char *parse_number(const char *at, int *ret)
{
	char *end;

	*ret = strtol(at, &end, 10);
	return end;
}

static void put_text(struct buf *b, const struct conversion *c, escape_fn *escape, const void *ctx,
		     const char *text)
{
	size_t len = c->precision < 0 ? strlen(text) : strnlen(text, c->precision);
	bool left = strchr(c->flags, '-');
	struct buf part = {}, safe = {};
	int blanks;

	buf_add(&part, text, len);
	escape(&safe, part.s ? part.s : "", ctx);
	blanks = c->width - (safe.s ? text_columns(safe.s) : 0);
	buf_repeat(b, " ", left ? 0 : blanks);
	buf_add(b, safe.s ? safe.s : "", safe.len);
	buf_repeat(b, " ", left ? blanks : 0);
	buf_end_part(b, &part);
	buf_end_part(b, &safe);
}

/*
 * Returns a conversion as a format string for printf(), such as "%5d". The width is written with
 * "%.0d", which prints nothing for a width of 0.
 */
static const char *spec_of(const struct conversion *c, char ret[48])
{
	char precision[16] = "";

	if (c->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", c->precision);
	snprintf(ret, 48, "%%%s%.0d%s%.*s%c", c->flags, c->width, precision, c->longs, "ll",
		 c->type);
	return ret;
}

void buf_vformat(struct buf *b, escape_fn *escape, const void *ctx, const char *format, va_list ap)
{
	for (const char *at = format;; at++) {
		struct conversion c = {.precision = -1};
		size_t len = strcspn(at, "%");
		const char *text;
		char spec[48];

		buf_add(b, at, len);
		at += len;
		if (!*at)
			break;
		at++;
		len = strspn(at, "-+ #0");
		snprintf(c.flags, sizeof(c.flags), "%.*s", (int)len, at);
		at = parse_number(at + len, &c.width);
		if (*at == '*') {
			c.width = va_arg(ap, int);
			at++;
		}
		if (*at == '.' && at[1] == '*') {
			c.precision = va_arg(ap, int);
			at += 2;
		} else if (*at == '.') {
			at = parse_number(at + 1, &c.precision);
		}
		for (; *at == 'l' || *at == 'z'; at++)
			c.longs += *at == 'l' ? 1 : sizeof(size_t) / sizeof(long);
		c.type = *at;
		switch (c.type) {
		case '%':
			buf_putc(b, '%');
			break;
		case 's':
			text = va_arg(ap, const char *);
			put_text(b, &c, escape, ctx, text ? text : "");
			break;
		case 'f':
		case 'g':
			buf_printf(b, spec_of(&c, spec), va_arg(ap, double));
			break;
		default:
			if (!c.longs)
				buf_printf(b, spec_of(&c, spec), va_arg(ap, int));
			else if (c.longs == 1)
				buf_printf(b, spec_of(&c, spec), va_arg(ap, long));
			else
				buf_printf(b, spec_of(&c, spec), va_arg(ap, long long));
		}
	}
}
