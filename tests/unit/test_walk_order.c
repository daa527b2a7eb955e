// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the order of frames of stacks that have more frames than a record. */
#include <stdlib.h>

#include "collect/python/walk_order.h"
#include "records/walk_slot.h"
#include "tap.h"

/* Makes a stack as the BPF program does. Each third frame was interrupted. */
static struct walk_record *make(__u32 frames)
{
	struct walk_record *r = calloc(1, sizeof(*r));

	r->frames = frames;
	r->end = STACK_END_ENTRY;
	for (__u32 i = 0; i < frames; i++) {
		__u32 slot = walk_slot(i);

		r->ip[slot] = 0x1000 + i;
		r->sp[slot] = 0x10000 + i * 16;
		r->interrupted[slot / 64] &= ~(1ULL << slot % 64);
		r->interrupted[slot / 64] |= (__u64)(i % 3 == 0) << slot % 64;
	}
	return r;
}

/* Checks that the record has these frames of the stack from index `at` on. */
static bool has(const struct walk_record *r, __u32 at, __u32 n, __u32 first)
{
	bool good = true;

	for (__u32 i = 0; i < n; i++) {
		bool bit = r->interrupted[(at + i) / 64] >> (at + i) % 64 & 1;

		good = good && r->ip[at + i] == 0x1000 + first + i &&
		       r->sp[at + i] == 0x10000 + (first + i) * 16 && bit == !((first + i) % 3);
	}
	return good;
}

static void test_depth(__u32 frames)
{
	struct walk_record *r = make(frames), *got = calloc(1, sizeof(*got));
	size_t gap = walk_order(r, got);
	__u32 kept = frames < WALK_FRAMES ? frames : WALK_FRAMES;

	is_u64(gap, frames > WALK_FRAMES ? WALK_INNER : 0, "frames are left out of a deep stack");
	is_u64(got->frames, kept, "number of frames");
	is_u64(got->end, STACK_END_ENTRY, "it ends at the entry");
	ok(has(got, 0, kept < WALK_INNER ? kept : WALK_INNER, 0), "innermost of %u frames", frames);
	if (kept > WALK_INNER)
		ok(has(got, WALK_INNER, kept - WALK_INNER, frames - (kept - WALK_INNER)),
		   "outermost of %u frames", frames);
	free(got);
	free(r);
}

static void test_python(void)
{
	struct walk_record *r = make(700), *got = calloc(1, sizeof(*got));

	r->pythons = 1;
	is_u64(walk_order(r, got), 0, "a deep stack with Python frames has no gap");
	is_u64(got->frames, WALK_INNER, "but only its innermost native frames");
	is_u64(got->end, STACK_END_TOO_DEEP, "and says so");
	free(got);
	free(r);
}

int main(void)
{
	static const __u32 depths[] = {1, 191, 192, 193, 255, 256, 257, 300, 319, 320, 1000, 1024};

	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++)
		test_depth(depths[i]);
	test_python();
	return tap_done();
}
