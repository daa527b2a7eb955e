// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the free parts of an array: they are taken in order, joined when freed, and not reused for
 * a while.
 */
#include "tap.h"
#include "unwind/extents.h"

#define LATER (2 * EXTENTS_REST_NS)
#define GIVEN 5 /* a time at which parts are given back */

static void test_order(void)
{
	struct extents x;
	__u32 a = 9, b = 9, c = 9;

	extents_init(&x, 100, 0);
	ok(extents_take(&x, 40, 1, &a) && a == 0, "the first part");
	ok(extents_take(&x, 60, 1, &b) && b == 40, "the rest");
	ok(!extents_take(&x, 1, 1, &c), "there is no more");
	is_u64(x.taken, 100, "all is taken");
	extents_give(&x, a, 40, 1);
	is_u64(x.taken, 60, "a part is given back");
	ok(!extents_take(&x, 1, 2, &c), "it rests");
	ok(extents_take(&x, 40, LATER, &c) && c == 0, "after a while it can be taken");
	extents_free(&x);
}

static void test_joining(void)
{
	struct extents x;
	__u32 at[4], all;

	extents_init(&x, 40, 0);
	for (int i = 0; i < 4; i++)
		extents_take(&x, 10, 1, &at[i]);
	extents_give(&x, at[1], 10, 1);
	extents_give(&x, at[3], 10, 1);
	extents_give(&x, at[0], 10, 1);
	ok(!extents_take(&x, 30, LATER, &all), "parts with one between them are two");
	extents_give(&x, at[2], 10, 1);
	is_u64(x.n, 1, "neighbours are joined");
	ok(extents_take(&x, 40, LATER, &all) && all == 0, "and taken as one");
	extents_free(&x);
}

/*
 * Tests that an element that was never taken can be taken at once, though its neighbour must rest.
 */
static void test_rest(void)
{
	struct extents x;
	__u32 a, b;

	extents_init(&x, 100, 0);
	extents_take(&x, 10, 1, &a);
	extents_give(&x, a, 10, 1);
	ok(extents_take(&x, 90, 2, &b) && b == 10, "the part behind one that rests");
	extents_give(&x, b, 90, 3);
	ok(extents_are_free(&x, 0, 100, LATER + 3), "later both are one free part");
	ok(!extents_are_free(&x, 1, 10, LATER + 3), "which begins at its first element");
	extents_free(&x);
}

static void test_borders(void)
{
	struct extents x;
	__u32 a, b, c;

	extents_init(&x, 25, 10);
	is_u64(x.n, 3, "two whole parts and a rest");
	ok(!extents_take(&x, 11, 1, &a), "no part is larger than from border to border");
	ok(extents_take(&x, 6, 1, &a) && a == 0, "six of the first ten");
	ok(extents_take(&x, 5, 1, &b) && b == 10, "the next five do not cross the border");
	ok(extents_take(&x, 4, 1, &c) && c == 6, "the gap is used");
	extents_give(&x, a, 6, 1);
	extents_give(&x, c, 4, 1);
	extents_give(&x, b, 5, 1);
	ok(extents_are_free(&x, 0, 10, LATER) && extents_are_free(&x, 10, 10, LATER),
	   "given back, each chunk is free");
	ok(!extents_take(&x, 20, LATER, &a), "but they are not joined");
	extents_free(&x);
}

/* Tests when a part has rested, to the nanosecond. */
static void test_rest_time(void)
{
	struct extents x;
	__u32 at;

	extents_init(&x, 10, 0);
	extents_take(&x, 10, 1, &at);
	extents_give(&x, 0, 10, GIVEN);
	ok(!extents_take(&x, 10, GIVEN + EXTENTS_REST_NS - 1, &at), "a second has not passed");
	ok(!extents_are_free(&x, 0, 10, GIVEN + EXTENTS_REST_NS - 1), "so it is not free");
	ok(extents_are_free(&x, 0, 10, GIVEN + EXTENTS_REST_NS), "a second has passed");
	ok(!extents_are_free(&x, 0, 11, GIVEN + EXTENTS_REST_NS), "it has ten elements");
	ok(extents_take(&x, 10, GIVEN + EXTENTS_REST_NS, &at) && at == 0, "and can be taken");
	extents_free(&x);
}

/* Tests that parts which are joined rest as long as the one that was given back last. */
static void test_joined_rest(void)
{
	__u32 at;

	for (int first = 0; first < 2; first++) {
		struct extents x;
		__u64 rested = GIVEN + 7 + EXTENTS_REST_NS;

		extents_init(&x, 20, 0);
		extents_take(&x, 10, 1, &at);
		extents_take(&x, 10, 1, &at);
		extents_give(&x, first ? 10 : 0, 10, GIVEN);
		extents_give(&x, first ? 0 : 10, 10, GIVEN + 7);
		is_u64(x.n, 1, "two neighbours that rest are joined");
		ok(!extents_are_free(&x, 0, 20, rested - 1), "the later one still rests");
		ok(!extents_take(&x, 1, rested - 1, &at), "so neither can be taken");
		ok(extents_are_free(&x, 0, 20, rested), "both have rested");
		extents_free(&x);
	}
}

static void test_nothing(void)
{
	struct extents x;
	__u32 at = 9;

	extents_init(&x, 0, 0);
	ok(!extents_take(&x, 1, 1, &at), "an array without elements has no part");
	ok(!extents_are_free(&x, 0, 1, 1), "none is free");
	extents_free(&x);
	extents_init(&x, 10, 0);
	ok(!extents_take(&x, 0, 1, &at) && at == 9, "no element is asked for");
	extents_take(&x, 10, 1, &at);
	extents_give(&x, 4, 0, 1);
	is_u64(x.n, 0, "no element is given back");
	is_u64(x.taken, 10, "all are taken");
	ok(!extents_are_free(&x, 0, 1, LATER), "none is free");
	extents_free(&x);
}

/* Tests more free parts than are listed. */
static void test_most(void)
{
	struct extents x;
	__u32 at;

	is_u64(extents_init(&x, EXTENTS_MAX, 1), 0, "the greatest number of parts");
	is_u64(x.n, EXTENTS_MAX, "all are listed");
	extents_free(&x);
	ok(extents_init(&x, EXTENTS_MAX + 1, 1), "one part more");
	extents_free(&x);

	extents_init(&x, 2 * EXTENTS_MAX + 1, 0);
	for (__u32 i = 0; i <= 2 * EXTENTS_MAX; i++)
		extents_take(&x, 1, 1, &at);
	for (__u32 i = 0; i < EXTENTS_MAX; i++)
		extents_give(&x, 2 * i, 1, 1);
	is_u64(x.n, EXTENTS_MAX, "single elements are given back");
	is_u64(x.lost, 0, "none is lost");
	extents_give(&x, 2 * EXTENTS_MAX, 1, 1);
	is_u64(x.n, EXTENTS_MAX, "one more cannot be listed");
	is_u64(x.lost, 1, "so it is lost");
	is_u64(x.taken, EXTENTS_MAX, "and counts as not taken");
	ok(extents_take(&x, 1, LATER, &at) && at == 0, "the listed ones can be taken");
	extents_free(&x);
}

int main(void)
{
	test_order();
	test_joining();
	test_rest();
	test_borders();
	test_rest_time();
	test_joined_rest();
	test_nothing();
	test_most();
	return tap_done();
}
