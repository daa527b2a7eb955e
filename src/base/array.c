// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16

void *array_grow(void *array, size_t n, size_t *room, size_t most, size_t element_bytes)
{
	size_t more = *room ? *room * 2 : ROOM_FIRST;
	void *grown;

	if (n < *room)
		return array;
	if (n >= most)
		return NULL;
	if (more > most)
		more = most;
	grown = reallocarray(array, more, element_bytes);
	if (grown)
		*room = more;
	return grown;
}

size_t array_count_up_to(const void *array, size_t n, size_t element_bytes, size_t key_offset,
			 uint64_t most)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t key;

		memcpy(&key, (const char *)array + middle * element_bytes + key_offset,
		       sizeof(key));
		if (key <= most)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void array_insert(void *array, size_t *n, size_t most, size_t element_bytes,
		  array_order *comes_before, const void *one)
{
	size_t at = *n;
	char *place;

	while (at && comes_before(one, (const char *)array + (at - 1) * element_bytes))
		at--;
	if (at == most)
		return;
	*n += *n < most;
	place = (char *)array + at * element_bytes;
	memmove(place + element_bytes, place, (*n - at - 1) * element_bytes);
	memcpy(place, one, element_bytes);
}

void array_copy(char *ret, size_t size, const char *s)
{
	size_t len = strnlen(s, size - 1);

	memcpy(ret, s, len);
	ret[len] = 0;
}

void array_shorten(char *ret, size_t size, const char *s)
{
	static const char mark[] = "…";
	size_t len = size - sizeof(mark);

	if (strnlen(s, size) < size) {
		array_copy(ret, size, s);
		return;
	}
	while (len && (s[len] & 0xc0) == 0x80)
		len--; /* a character is left out as a whole */
	memcpy(ret, s, len);
	memcpy(ret + len, mark, sizeof(mark));
}

void array_append(char *ret, size_t size, const char *s)
{
	size_t len = strnlen(ret, size);

	if (len < size)
		array_copy(ret + len, size - len, s);
}

char *digits_before(char *end, uint64_t n)
{
	do {
		*--end = '0' + n % 10;
		n /= 10;
	} while (n);
	return end;
}
