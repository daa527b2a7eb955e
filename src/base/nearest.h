/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: "did you mean": the known word that is nearest to one that was typed. */
#ifndef FS_BASE_NEAREST_H
#define FS_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a word, from which on it is compared with nothing. */
#define NEAREST_BYTES 64

/*
 * How many insertions, removals, changes and swaps of neighbours make `b` of `a`, whatever the case
 * of letters (optimal string alignment). SIZE_MAX where one is NEAREST_BYTES long or longer.
 */
size_t edit_distance(const char *a, const char *b);

/* Set `typed`, then offer each known word; `word` is the nearest of them so far. */
struct nearest {
	const char *typed;
	const char *word; /* as it was offered; NULL: none is near */
	size_t distance;
};

void nearest_add(struct nearest *n, const char *word);

/*
 * Appends "\n  did you mean: WORD" to the text in `error`, with `before` in front of the word; adds
 * nothing where no word is near or where it does not fit.
 */
void nearest_print(const struct nearest *n, const char *before, char *error, size_t size);

#endif
