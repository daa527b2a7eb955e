// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/walk_order.h"

#include "records/walk_slot.h"

size_t walk_order(const struct walk_record *r, struct walk_record *ret)
{
	__u32 first = walk_first_outer(r->frames);

	*ret = *r;
	if (r->frames <= WALK_FRAMES)
		return 0;
	/*
	 * Python frames are merged into the frames of the interpreter's loop. If some of these are
	 * left out, the frames behind the gap would get wrong Python frames.
	 */
	if (r->pythons) {
		ret->frames = WALK_INNER;
		ret->end = STACK_END_TOO_DEEP;
		return 0;
	}
	ret->frames = WALK_FRAMES;
	for (__u32 i = 0; i < WALK_OUTER; i++) {
		__u32 from = walk_slot(first + i), to = WALK_INNER + i;

		ret->ip[to] = r->ip[from];
		ret->sp[to] = r->sp[from];
		ret->interrupted[to / 64] &= ~(1ULL << to % 64);
		ret->interrupted[to / 64] |= (r->interrupted[from / 64] >> from % 64 & 1)
					     << to % 64;
	}
	return WALK_INNER;
}
