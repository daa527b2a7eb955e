// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "triage/str.h"

bool str_ends(struct str s, const char *end)
{
	size_t n = strlen(end);

	return s.n >= n && !memcmp(s.s + s.n - n, end, n);
}

long str_find(struct str s, const char *what)
{
	const char *at = s.n ? memmem(s.s, s.n, what, strlen(what)) : NULL;

	return at ? at - s.s : -1;
}

size_t str_starts_any(struct str s, const char *texts)
{
	for (;; texts++) {
		size_t n = 0;

		while (texts[n] && texts[n] != '|' && n < s.n && s.s[n] == texts[n])
			n++;
		if (!texts[n] || texts[n] == '|')
			return n;
		for (texts += n; *texts != '|'; texts++)
			if (!*texts)
				return 0;
	}
}

bool str_has_any(struct str s, const char *texts)
{
	for (size_t at = 0; at < s.n; at++)
		if (str_starts_any(str_from(s, at), texts))
			return true;
	return false;
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.s[0]))
		s = str_from(s, 1);
	while (s.n && is_blank(s.s[s.n - 1]))
		s.n--;
	return s;
}

struct str str_word(struct str *s)
{
	struct str word;
	size_t n = 0;

	while (s->n && is_blank(s->s[0]))
		*s = str_from(*s, 1);
	while (n < s->n && !is_blank(s->s[n]))
		n++;
	word = str_first(*s, n);
	*s = str_from(*s, n);
	return word;
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : (c | 32) - 'a' + 10;
}

size_t str_hex(struct str s, uint64_t *ret)
{
	size_t start = str_starts(s, "0x") || str_starts(s, "0X") ? 2 : 0, at = start;
	uint64_t value = 0;

	for (; at < s.n && is_hex(s.s[at]); at++)
		value = value << 4 | hex_value(s.s[at]);
	if (at == start || at - start > 16)
		return 0;
	*ret = value;
	return at;
}

size_t str_decimal(struct str s, uint64_t *ret)
{
	uint64_t value = 0;
	size_t at = 0;

	for (; at < s.n && is_digit(s.s[at]); at++)
		value = value * 10 + (s.s[at] - '0');
	if (!at || at > 19)
		return 0;
	*ret = value;
	return at;
}
