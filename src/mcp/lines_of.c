// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mcp/lines_of.h"

#include <string.h>

void lines_of_take(struct lines_of *l, const char *s, size_t len,
		   void (*take)(void *ctx, const char *line, size_t len), void *ctx)
{
	for (const char *end; (end = memchr(s, '\n', len)); len -= end + 1 - s, s = end + 1) {
		if (!l->skips)
			buf_add(&l->part, s, end - s);
		if (l->skips)
			take(ctx, NULL, 0);
		else if (l->part.len)
			take(ctx, l->part.s, l->part.len);
		buf_clear(&l->part);
		l->skips = false;
	}
	if (l->part.len + len > LINE_BYTES) {
		l->skips = true;
		buf_clear(&l->part);
	}
	if (!l->skips)
		buf_add(&l->part, s, len);
}
