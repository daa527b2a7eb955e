/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: arrays that grow up to a maximum, and texts that are cut to a fixed size. */
#ifndef FS_BASE_ARRAY_H
#define FS_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes room in an array of `n` elements for another element. `*room` is its capacity and grows up
 * to `most`. Returns the array. Returns NULL when the array is full or memory is short; the old
 * array then stays valid.
 */
void *array_grow(void *array, size_t n, size_t *room, size_t most, size_t element_bytes);

/*
 * Returns the number of elements whose key is at most `most`. A key is a 64-bit number,
 * `key_offset` bytes behind the beginning of its element. The elements are sorted by their keys.
 */
size_t array_count_up_to(const void *array, size_t n, size_t element_bytes, size_t key_offset,
			 uint64_t most);

/* Returns true if element `a` comes before element `b`. */
typedef bool array_order(const void *a, const void *b);

/*
 * Inserts a copy of `one` into an array of `*n` elements in this order, behind those of the same
 * rank. The array keeps the first `most` elements.
 */
void array_insert(void *array, size_t *n, size_t most, size_t element_bytes,
		  array_order *comes_before, const void *one);

void array_copy(char *ret, size_t size, const char *s);

/* Copies UTF-8 text to `ret`, of at least 4 bytes. Text that does not fit ends with "…". */
void array_shorten(char *ret, size_t size, const char *s);
void array_append(char *ret, size_t size, const char *s);

#define DIGITS_MOST 20 /* maximum number of decimal digits of a 64-bit number */

/*
 * Writes the decimal digits of a number, at most DIGITS_MOST, so that they end before `end`.
 * Returns the address of the first digit of the number.
 */
char *digits_before(char *end, uint64_t n);

#endif
