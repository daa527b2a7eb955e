// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fuzzes what `top` reads: the bytes are what a host answers, in two pages, and the table of it has
 * to stay clean text that fits. The first byte chooses where the second page begins, and the width.
 */
#include <stdlib.h>
#include <string.h>

#include "render/text/fleet_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of exactly its length. */
static void take(struct fleet *f, uint32_t host, const uint8_t *data, size_t size, uint64_t t_ns)
{
	char *page = malloc(size ? size : 1);

	if (!page)
		abort();
	memcpy(page, data, size);
	fleet_take(f, host, page, size, t_ns);
	free(page);
}

static void check(const struct buf *b, int width)
{
	const char *at = b->s, *end;
	uint32_t code;

	for (; at && (end = strchr(at, '\n')); at = end + 1) {
		if (end - at > width)
			abort(); /* ASCII: a byte a column */
		for (const char *s = at; s < end; s++)
			if (!utf8_decode(s, &code) || code < ' ' || code > '~')
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"one", "two"};
	struct view v = {.top = 50};
	struct buf b = {};
	struct fleet f;
	size_t mid;

	if (!size)
		return 0;
	mid = 1 + (size - 1) * (data[0] & 15) / 15;
	v.width = 40 + data[0];
	if (fleet_init(&f, names, 2))
		abort();
	take(&f, 0, data + 1, mid - 1, 1000000000);
	take(&f, 0, data + mid, size - mid, 2000000000);
	take(&f, 1, data + mid, size - mid, 2000000000);
	fleet_text(&b, &v, &f, 2);
	check(&b, v.width);
	buf_free(&b);
	fleet_free(&f);
	return 0;
}
