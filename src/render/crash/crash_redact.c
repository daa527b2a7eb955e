// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/crash/crash_view.h"

#define ADDRESS_DIGITS 8

static size_t hex_run(struct str s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && is_hex(s.s[at + n]))
		n++;
	return n;
}

/*
 * Returns the length of an IPv4 address such as "10.0.4.9" at position `at`; 0 if there is none, or
 * if there are more than four numbers.
 */
static size_t quad_length(struct str s, size_t at)
{
	size_t from = at;

	if (at >= 2 && s.s[at - 1] == '.' && is_digit(s.s[at - 2]))
		return 0;
	for (int part = 0; part < 4; part++) {
		uint64_t value;
		size_t n = str_decimal(str_first(str_from(s, at), 3), &value);

		if (!n || value > 255)
			return 0;
		at += n;
		if (part < 3 && str_at(s, at++) != '.')
			return 0;
	}
	if (is_digit(str_at(s, at)) || (str_at(s, at) == '.' && is_digit(str_at(s, at + 1))))
		return 0;
	return at - from;
}

void triage_redact(struct buf *b, struct str s)
{
	bool word = false; /* inside a word, where letters may look like hex digits */

	for (size_t at = 0; at < s.n;) {
		size_t n = word ? 0 : hex_run(s, at), quad = word ? 0 : quad_length(s, at);

		if (n >= ADDRESS_DIGITS && !is_letter(str_at(s, at + n)) &&
		    str_at(s, at + n) != '_') {
			buf_puts(b, "<address>");
			at += n;
		} else if (quad) {
			buf_puts(b, "<host>");
			at += quad;
		} else {
			char c = s.s[at++];

			buf_add(b, &c, 1);
			word = is_letter(c) || is_digit(c) || c == '_';
			if (c == 'x' && at >= 2 && s.s[at - 2] == '0')
				word = false;
		}
	}
}
