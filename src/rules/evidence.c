// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rules/evidence.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/units.h"

const char *evidence_unit_name(enum evidence_unit u)
{
	static const char *const name[NR_EVIDENCE_UNITS] = {
		[IN_COUNT] = "count",
		[IN_BYTES] = "bytes",
		[IN_PAGES] = "pages",
		[IN_SECONDS] = "seconds",
		[IN_PERCENT] = "percent",
		[IN_PER_SECOND] = "per_second",
		[IN_BYTES_PER_SECOND] = "bytes_per_second",
	};

	return name[u];
}

struct evidence *evidence_init(struct evidence *e, const char *field)
{
	*e = (struct evidence){.field = field};
	return e;
}

void evidence_set(struct evidence *e, enum evidence_unit unit, uint64_t value)
{
	e->unit = unit;
	e->value = value;
}

void evidence_set_real(struct evidence *e, enum evidence_unit unit, double value)
{
	e->unit = unit;
	e->real = value;
}

void evidence_limit(struct evidence *e, uint64_t limit)
{
	e->has_limit = true;
	e->limit = limit;
}

void evidence_about(struct evidence *e, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(e->text, sizeof(e->text), format, ap);
	va_end(ap);
}

static void put_whole(struct buf *b, enum evidence_unit unit, uint64_t value)
{
	if (value == UINT64_MAX)
		put_limit(b, value);
	else if (unit == IN_BYTES)
		put_bytes(b, value);
	else
		put_count(b, value);
}

static void put_real(struct buf *b, enum evidence_unit unit, double value)
{
	switch (unit) {
	case IN_SECONDS:
		if (value < 1)
			put_duration(b, count_of_real(value * 1e9));
		else
			put_span(b, value);
		break;
	case IN_PERCENT:
		buf_printf(b, value < 10 ? "%.1f %%" : "%.0f %%", value);
		break;
	case IN_BYTES_PER_SECOND:
		put_bytes(b, count_of_real(value));
		buf_puts(b, "/s");
		break;
	default:
		put_rate(b, value);
		buf_puts(b, "/s");
	}
}

void evidence_put(struct buf *b, const struct evidence *e)
{
	uint64_t last = e->has_limit ? e->limit : e->value + e->asked;

	buf_puts(b, e->text);
	if (e->unit == IN_TEXT)
		return;
	if (e->text[0])
		buf_puts(b, ": ");
	if (unit_is_real(e->unit))
		put_real(b, e->unit, e->real);
	else
		put_whole(b, e->unit, e->value);
	if (e->asked) {
		buf_puts(b, " + ");
		put_whole(b, e->unit, e->asked);
	}
	if (e->at_least)
		buf_puts(b, " or more");
	if (e->has_limit) {
		buf_puts(b, " of ");
		put_whole(b, e->unit, e->limit);
	}
	if (e->assumed)
		buf_puts(b, " (assumed)");
	if (e->unit == IN_PAGES)
		buf_printf(b, " %s", as_words(last, "page{|s}").s);
}
