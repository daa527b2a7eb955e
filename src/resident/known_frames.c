// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "resident/known_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define PAGES_MAX (1u << 20) /* far above the chosen pages of any process */

int known_frames_add(struct known_frames *k, const struct page_range *page)
{
	struct page_range *more = array_grow(k->one, k->n, &k->room, PAGES_MAX, sizeof(*more));

	if (!more)
		return -ENOMEM;
	k->one = more;
	more[k->n++] = *page;
	return 0;
}

const struct page_range *known_frames_find(struct known_frames *k, uint64_t page, uint64_t frame)
{
	while (k->at < k->n && k->one[k->at].from < page)
		k->at++;
	if (k->at >= k->n || k->one[k->at].from != page || k->one[k->at].frame != frame)
		return NULL;
	return &k->one[k->at];
}

void known_frames_replace(struct known_frames *k, struct known_frames *from)
{
	free(k->one);
	*k = *from;
	k->at = 0;
	memset(from, 0, sizeof(*from));
}

void known_frames_free(struct known_frames *k)
{
	free(k->one);
	memset(k, 0, sizeof(*k));
}
