// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/files/json_text.h"

#include <string.h>

static void skip_blanks(struct span *s)
{
	while (s->len && strchr(" \t\r\n", *s->s) && *s->s) {
		s->s++;
		s->len--;
	}
}

static char next(const struct span *s)
{
	return s->len ? *s->s : 0;
}

static void drop(struct span *s, size_t n)
{
	s->s += n;
	s->len -= n;
}

/* Removes a string from the front of `s`, and returns what is between its quotes. */
static struct span take_string(struct span *s)
{
	struct span in = {s->s + 1, 0};

	drop(s, 1);
	while (s->len && *s->s != '"')
		drop(s, *s->s == '\\' && s->len > 1 ? 2 : 1);
	in.len = s->s - in.s;
	if (s->len)
		drop(s, 1);
	return in;
}

/* Removes a value from the front of `s`: a string, a number, a word, or all of an object or array.
 */
static void skip_value(struct span *s)
{
	size_t depth = 0;

	do {
		char c = next(s);

		if (c == '"') {
			take_string(s);
			continue;
		}
		if (!depth && (c == ',' || c == '}' || c == ']'))
			return;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		drop(s, 1);
		if (!depth && (c == '}' || c == ']'))
			return;
	} while (s->len && (depth || (*s->s != ',' && *s->s != '}' && *s->s != ']')));
}

/*
 * Moves `s` to the value of the first member with a name, of the object at the front of `s`.
 * Returns false if there is no such member.
 */
static bool enter(struct span *s, const char *name)
{
	skip_blanks(s);
	if (next(s) != '{')
		return false;
	drop(s, 1);
	for (;;) {
		struct span key;

		skip_blanks(s);
		if (next(s) != '"')
			return false;
		key = take_string(s);
		skip_blanks(s);
		if (next(s) != ':')
			return false;
		drop(s, 1);
		skip_blanks(s);
		if (text_is(key, name))
			return true;
		if (!s->len)
			return false;
		skip_value(s);
		skip_blanks(s);
		if (next(s) != ',')
			return false;
		drop(s, 1);
	}
}

bool json_string_find(struct span text, const char *const *path, char *ret, size_t size)
{
	struct span value;

	ret[0] = 0;
	for (; *path; path++)
		if (!enter(&text, *path))
			return false;
	if (next(&text) != '"')
		return false;
	value = take_string(&text);
	if (value.len >= size || memchr(value.s, '\\', value.len) || memchr(value.s, 0, value.len))
		return false;
	memcpy(ret, value.s, value.len);
	ret[value.len] = 0;
	return true;
}
