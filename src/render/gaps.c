// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of gaps itself: triage has one too, which knows no model. */
#include <stdarg.h>
#include <stdio.h>

#include "render/completeness.h"
#include "render/style.h"

void gap_add(struct buf *gaps, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	buf_printf(gaps, "%s%s", gaps->len ? "; " : "", text);
}

bool has_gaps(const struct buf *gaps)
{
	return gaps->len || gaps->failed;
}

void gaps_text(struct buf *b, const struct view *v, const struct buf *gaps)
{
	if (has_gaps(gaps))
		text_wrapped(b, v, "incomplete: ", gaps->failed ? "out of memory" : gaps->s);
}
