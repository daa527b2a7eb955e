// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "probe/kernel_symbols.h"

#include <stdlib.h>
#include <string.h>

void kernel_symbols_each(const char *table, size_t size, kernel_symbol_fn *take, void *ctx)
{
	const char *end = table + size, *newline;

	for (const char *at = table; (newline = memchr(at, '\n', end - at)); at = newline + 1) {
		const char *space = memchr(at, ' ', newline - at);
		struct kernel_symbol one = {.line = at};

		if (!space || newline - space < 4 || space[2] != ' ')
			continue;
		one.kind = space[1];
		one.name = space + 3;
		one.len = newline - one.name;
		take(ctx, &one);
	}
}

__u64 kernel_symbol_address(const struct kernel_symbol *s)
{
	return strtoull(s->line, NULL, 16);
}
