/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: "did you mean": finds the known word that is most similar to what the user typed. */
#ifndef FS_BASE_NEAREST_H
#define FS_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Words that have NEAREST_BYTES or more characters are not compared. */
#define NEAREST_BYTES 64

/*
 * Returns how many insertions, removals, changes and swaps of adjacent characters turn `a` into
 * `b`, ignoring case (optimal string alignment distance). Returns SIZE_MAX if a word has
 * NEAREST_BYTES or more.
 */
size_t edit_distance(const char *a, const char *b);

/*
 * A search: the caller sets `typed` and adds each known word; `word` is the most similar one so
 * far.
 */
struct nearest {
	const char *typed;
	const char *word; /* the most similar word added so far; NULL: none is similar */
	size_t distance;
};

void nearest_add(struct nearest *n, const char *word);

/*
 * Appends "\n did you mean: WORD" to the text in `error`, with `before` in front of the word.
 * Appends nothing in two cases: no word is similar, or the text does not fit.
 */
void nearest_print(const struct nearest *n, const char *before, char *error, size_t size);

#endif
