// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests arrays that grow up to a maximum size, digits of numbers, and shortened text. */
#include <stdlib.h>

#include "base/array.h"
#include "tap.h"

#define MOST 1000 /* maximum number of elements; not a power of two */

static void test_counts_up_to(void)
{
	struct pair {
		uint32_t other;
		uint64_t key;
	} array[20];
	size_t wrong = 0;

	for (size_t n = 0; n <= 20; n++) {
		for (size_t i = 0; i < n; i++) /* each key twice: 10, 10, 20, 20, … */
			array[i] = (struct pair){UINT32_MAX, 10 * (i / 2 + 1)};
		for (uint64_t most = 0; most < 120; most++) {
			size_t want = 2 * (most / 10);

			wrong += array_count_up_to(array, n, sizeof(array[0]),
						   offsetof(struct pair, key),
						   most) != (want < n ? want : n);
		}
	}
	is_u64(wrong, 0, "the elements up to a number are counted");
	is_u64(array_count_up_to(NULL, 0, 8, 0, UINT64_MAX), 0, "no elements");
}

static void test_grows_to_its_cap(void)
{
	uint64_t *array = NULL, *grown;
	size_t n = 0, room = 0, changes = 0, was = 0, wrong = 0;

	while ((grown = array_grow(array, n, &room, MOST, sizeof(*array)))) {
		array = grown;
		changes += room != was;
		was = room;
		array[n] = n;
		n++;
	}
	is_u64(n, MOST, "as many as there may be");
	is_u64(room, MOST, "and room for no more");
	ok(changes < 10, "in few steps: %zu", changes);
	for (size_t i = 0; i < n; i++)
		wrong += array[i] != i;
	is_u64(wrong, 0, "all are there still, when it would have no more");
	free(array);
}

struct ranked {
	int rank, nth;
};

static bool ranks_higher(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->rank > y->rank;
}

/* Inserts numbers in all orders, and compares with the first of a stable sort by counting. */
static void test_inserts_in_order(void)
{
	struct ranked array[4], one;
	size_t wrong = 0;

	for (int order = 0; order < 3 * 3 * 3 * 3 * 3 * 3; order++)
		for (size_t most = 0; most <= 4; most++) {
			size_t n = 0, at = 0;
			int nth = 0;

			for (int left = order; nth < 6; left /= 3, nth++) {
				one = (struct ranked){left % 3, nth};
				array_insert(array, &n, most, sizeof(one), ranks_higher, &one);
			}
			wrong += n != most;
			for (int rank = 2; rank >= 0; rank--)
				for (int left = order, i = 0; i < 6 && at < most; left /= 3, i++)
					if (left % 3 == rank) {
						wrong += array[at].rank != rank ||
							 array[at].nth != i;
						at++;
					}
		}
	is_u64(wrong, 0, "the first elements are kept, and those of the same rank in their order");
}

static void test_digits(void)
{
	char text[DIGITS_MOST + 1] = {};

	is_str(digits_before(text + DIGITS_MOST, 0), "0", "of nothing");
	is_str(digits_before(text + DIGITS_MOST, 1900), "1900", "of a number");
	is_str(digits_before(text + DIGITS_MOST, UINT64_MAX), "18446744073709551615",
	       "of the largest one, which takes all the room");
}

static const char *shortened(const char *s)
{
	static char text[8];

	memset(text, 'x', sizeof(text));
	array_shorten(text, sizeof(text), s);
	return text;
}

static void test_shortened(void)
{
	is_str(shortened("seven!!"), "seven!!", "text that fits");
	is_str(shortened("eight!!!"), "eigh…", "longer text");
	is_str(shortened("abc€€"), "abc…", "no part of a character is left");
	is_str(shortened("a€€€"), "a€…", "whole characters are left");
	is_str(shortened("\x80\x80\x80\x80\x80\x80\x80\x80\x80"), "…", "no character at all");
}

static void test_append(void)
{
	char text[9] = "abcd1234";

	array_append(text, 4, "x");
	is_str(text, "abcd1234", "an array without an end, and what is behind it, stay");
	strcpy(text, "ab");
	array_append(text, 5, "cd");
	is_str(text, "abcd", "a text that just fits");
	array_append(text, 5, "e");
	is_str(text, "abcd", "no room is left");
	array_append(text, 7, "efg");
	is_str(text, "abcdef", "a text is cut");
}

int main(void)
{
	test_counts_up_to();
	test_grows_to_its_cap();
	test_inserts_in_order();
	test_digits();
	test_shortened();
	test_append();
	return tap_done();
}
