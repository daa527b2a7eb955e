// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests arrays that grow up to a maximum size, and the conversion of numbers to decimal digits. */
#include <stdlib.h>

#include "base/array.h"
#include "tap.h"

#define MOST 1000 /* maximum number of elements; not a power of two */

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

static void test_digits(void)
{
	char text[DIGITS_MOST + 1] = {};

	is_str(digits_before(text + DIGITS_MOST, 0), "0", "of nothing");
	is_str(digits_before(text + DIGITS_MOST, 1900), "1900", "of a number");
	is_str(digits_before(text + DIGITS_MOST, UINT64_MAX), "18446744073709551615",
	       "of the largest one, which takes all the room");
}

int main(void)
{
	test_grows_to_its_cap();
	test_digits();
	return tap_done();
}
