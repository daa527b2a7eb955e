/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds plurals after the number 1, such as "1 files". */
#ifndef FS_TESTS_PLURALS_H
#define FS_TESTS_PLURALS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

/* Returns whether a word is a plural. Short words such as "ns" and "was" are none. */
static inline bool is_plural(const char *word, size_t len)
{
	return len > 3 && word[len - 1] == 's' && !strchr("sui", word[len - 2]);
}

/* Returns the number of plurals after the number 1 in a text, and prints the first ones. */
static inline unsigned int plurals_after_one(const struct buf *b)
{
	unsigned int found = 0;

	for (size_t i = 0; i + 2 < b->len; i++) {
		const char *word = b->s + i + 2;
		size_t len = 0;

		if (strncmp(b->s + i, "1 ", 2) || (i && (isalnum((unsigned char)b->s[i - 1]) ||
							 strchr(".,:%/+=_-", b->s[i - 1]))))
			continue;
		while (word + len < b->s + b->len && islower((unsigned char)word[len]))
			len++;
		/* in lines of perf script, the name of an event follows, and a colon */
		if (!is_plural(word, len) || word[len] == ':')
			continue;
		if (!found++)
			printf("# 1 %.*s\n", (int)len, word);
	}
	return found;
}

#endif
