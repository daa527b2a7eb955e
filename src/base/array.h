/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: arrays that grow up to a cap, and texts in those of a fixed size: the rest is cut off. */
#ifndef FS_BASE_ARRAY_H
#define FS_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/*
 * An array of `n` elements with room for one more: it has `*room`, and may get up to `most`. NULL:
 * it may not, or there is no memory; it is left as it was.
 */
void *array_grow(void *array, size_t n, size_t *room, size_t most, size_t element_bytes);

void array_copy(char *ret, size_t size, const char *s);
void array_append(char *ret, size_t size, const char *s);

#define DIGITS_MOST 20 /* of a number of 64 bits */

/* Writes a number's decimal digits in front of `end`, at most DIGITS_MOST; where they begin. */
char *digits_before(char *end, uint64_t n);

#endif
