// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lists of gaps are text with one gap per line. They need no model, as `triage` has none. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/completeness.h"
#include "render/json_out.h"
#include "render/style.h"

void gap_add(struct buf *gaps, const char *format, ...)
{
	size_t from = gaps->len;
	va_list ap;

	va_start(ap, format);
	buf_vprintf(gaps, format, ap);
	va_end(ap);
	for (size_t i = from; i < gaps->len; i++)
		if (gaps->s[i] == '\n')
			gaps->s[i] = ' ';
	buf_putc(gaps, '\n');
}

void gap_lost(struct buf *gaps, uint64_t n, const char *format, ...)
{
	char what[256];
	va_list ap;

	if (!n)
		return;
	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	gap_add(gaps, "lost: %" PRIu64 " %s", n, as_words(n, what).s);
}

void gaps_add(struct buf *gaps, const struct buf *more)
{
	if (more->failed)
		gaps->failed = true;
	else
		buf_add(gaps, more->s, more->len);
}

bool has_gaps(const struct buf *gaps)
{
	return gaps->len || gaps->failed;
}

void gaps_join(struct buf *b, const struct buf *gaps)
{
	if (gaps->failed) {
		buf_puts(b, "out of memory");
		return;
	}
	for (size_t i = 0; i + 1 < gaps->len; i++)
		if (gaps->s[i] == '\n')
			buf_puts(b, "; ");
		else
			buf_putc(b, gaps->s[i]);
}

void gaps_text(struct buf *b, const struct view *v, const struct buf *gaps)
{
	struct buf joined = {};

	if (!has_gaps(gaps))
		return;
	gaps_join(&joined, gaps);
	text_wrapped(b, v, "incomplete: ", joined.s ? joined.s : "out of memory");
	buf_end_part(b, &joined);
}

void gaps_json(struct json *j, const char *key, const struct buf *gaps)
{
	struct buf gap = {};

	json_array(j, key);
	if (gaps->failed)
		json_text(j, NULL, "out of memory");
	for (size_t from = 0, len; !gaps->failed && from < gaps->len; from += len + 1) {
		len = strcspn(gaps->s + from, "\n");
		buf_next_part(j->b, &gap);
		buf_add(&gap, gaps->s + from, len);
		json_text(j, NULL, gap.s ? gap.s : "out of memory");
	}
	json_end_array(j);
	buf_end_part(j->b, &gap);
}
