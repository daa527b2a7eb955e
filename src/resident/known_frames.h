/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resident: what the kernel said about pages of private mappings of files, by the frames that they
 * had. A page with the same frame as before is still what it was: if a write makes a private copy,
 * the copy has another frame. So the kernel must be asked only about new pages.
 */
#ifndef FS_RESIDENT_KNOWN_FRAMES_H
#define FS_RESIDENT_KNOWN_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "resident/page_ranges.h"

/* Pages of one reading, in ascending order. Begins with zeros. */
struct known_frames {
	struct page_range *one; /* of one page each; owned */
	size_t n, room;
	size_t at; /* for known_frames_find() */
};

/* Adds a page, which is above all others. Returns 0 or -ENOMEM. */
int known_frames_add(struct known_frames *k, const struct page_range *page);

/*
 * Returns the entry of a page with this frame, or NULL. Pages must be asked for in ascending order.
 */
const struct page_range *known_frames_find(struct known_frames *k, uint64_t page, uint64_t frame);

/* Frees the pages of `k`, and moves those of `from` to it. */
void known_frames_replace(struct known_frames *k, struct known_frames *from);
void known_frames_free(struct known_frames *k);

#endif
