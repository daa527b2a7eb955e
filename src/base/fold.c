// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/fold.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define HEX_LEAST    4
#define RANDOM_LEAST 6 /* minimum characters of a random part: mkstemp() appends 6 */
/* minimum changes between digits, upper and lower case in a random part; real words have fewer */
#define CHANGES_LEAST 3

static bool is_word(char c)
{
	return isalnum((unsigned char)c);
}

static int class_of(char c)
{
	return isdigit((unsigned char)c) ? 1 : isupper((unsigned char)c) ? 2 : 3;
}

/* Library names such as "libQt5Core.so" mix cases and digits, but are not random. */
static bool is_library(const char *behind)
{
	return !strncmp(behind, ".so", 3);
}

/* Returns whether a run of letters and digits is a number, hexadecimal, or random. */
static bool is_counted(const char *s, size_t n)
{
	size_t digits = 0, hex = 0, changes = 0;

	for (size_t i = 0; i < n; i++) {
		digits += isdigit((unsigned char)s[i]) != 0;
		hex += isxdigit((unsigned char)s[i]) != 0;
		changes += i && class_of(s[i]) != class_of(s[i - 1]);
	}
	if (digits == n || (n >= HEX_LEAST && hex == n && digits))
		return true;
	if (hex == n && isdigit((unsigned char)*s))
		return true; /* short hexadecimal number that begins with a digit */
	return n >= RANDOM_LEAST && changes >= CHANGES_LEAST && !is_library(s + n);
}

#define VERSION_DIGITS 3

/* Returns whether a number is a version: up to 3 digits after a dot, as in "so.6". */
static bool is_version(const char *from, const char *at, size_t n, bool kept)
{
	return kept && at > from + 1 && at[-1] == '.' && is_word(at[-2]) && n <= VERSION_DIGITS &&
	       strspn(at, "0123456789") >= n;
}

/* Returns whether the number is a part of "x86_64", which many paths contain. */
static bool is_machine(const char *from, const char *at, size_t n)
{
	return n == 2 && at - from >= 4 && !strncmp(at - 4, "x86_64", 6);
}

void name_fold(const char *name, char *ret, size_t size)
{
	const char *at = name;
	bool kept = false; /* true: the previous word of the name was not folded */
	size_t to = 0;

	if (!size)
		return;
	while (*at && to + 1 < size) {
		size_t n = 0;

		while (is_word(at[n]))
			n++;
		if (!n && *at != '#') {
			ret[to++] = *at++;
			continue;
		}
		/* names that are already folded stay unchanged */
		kept = n && (!is_counted(at, n) || is_version(name, at, n, kept) ||
			     is_machine(name, at, n));
		if (!kept) {
			/* "#_#" and "#-#" become a single "#" */
			if (to >= 2 && ret[to - 2] == '#' && strchr("_-.:", ret[to - 1]))
				to--;
			else
				ret[to++] = '#';
		} else {
			size_t fits = n < size - 1 - to ? n : size - 1 - to;

			memcpy(ret + to, at, fits);
			to += fits;
		}
		at += n ? n : 1;
	}
	ret[to] = 0;
}
