// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/nearest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t edit_distance(const char *a, const char *b)
{
	/*
	 * rows of the edit-distance table: for the prefixes of `a` with i - 2, i - 1 and i
	 * characters
	 */
	unsigned char rows[3][NEAREST_BYTES];
	unsigned char *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t m = strlen(a), n = strlen(b);

	if (m >= NEAREST_BYTES || n >= NEAREST_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= m; i++) {
		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t d = last[j - 1] + !same(a[i - 1], b[j - 1]);

			d = least(d, least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				d = least(d, before[j - 2] + 1);
			now[j] = d;
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[n];
}

/*
 * Returns the highest edit distance at which a word is similar: 1 for three letters, 3 for eight.
 */
static size_t most_of(const char *typed)
{
	return (strlen(typed) + 1) / 3;
}

void nearest_add(struct nearest *n, const char *word)
{
	size_t distance = edit_distance(n->typed, word);
	size_t len = strlen(n->typed);

	/* the user may have typed only the beginning of the word */
	if (len >= 3 && !strncasecmp(word, n->typed, len))
		distance = least(distance, 1);
	if (distance > most_of(n->typed) || (n->word && distance >= n->distance))
		return;
	n->word = word;
	n->distance = distance;
}

void nearest_print(const struct nearest *n, const char *before, char *error, size_t size)
{
	size_t len = strlen(error);
	int more;

	if (!n->word)
		return;
	more = snprintf(error + len, size - len, "\n  did you mean: %s%s", before, n->word);
	if (more < 0 || (size_t)more >= size - len)
		error[len] = 0;
}
