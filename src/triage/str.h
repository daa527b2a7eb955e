/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* triage: a slice of a log: bytes with a length, not NUL-terminated, owned elsewhere. */
#ifndef FS_TRIAGE_STR_H
#define FS_TRIAGE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *s;
	size_t n;
};

/* Arguments for %.*s of printf(). */
#define STR_ARG(x)   (int)(x).n, (x).s ? (x).s : ""
#define STR(literal) ((struct str){literal, sizeof(literal) - 1})

static inline struct str str_of(const char *s)
{
	return (struct str){s, strlen(s)};
}

static inline struct str str_from(struct str s, size_t at)
{
	if (at > s.n)
		at = s.n;
	/* an empty string may have no address, to which C allows no addition, not even of 0 */
	return at ? (struct str){s.s + at, s.n - at} : s;
}

static inline struct str str_first(struct str s, size_t n)
{
	return (struct str){s.s, n < s.n ? n : s.n};
}

static inline char str_at(struct str s, size_t at)
{
	return at < s.n ? s.s[at] : 0;
}

static inline bool str_starts(struct str s, const char *start)
{
	size_t n = strlen(start);

	return s.n >= n && (!n || !memcmp(s.s, start, n));
}

static inline bool str_is(struct str s, const char *other)
{
	return s.n == strlen(other) && (!s.n || !memcmp(s.s, other, s.n));
}

static inline bool str_same(struct str a, struct str b)
{
	return a.n == b.n && (!a.n || !memcmp(a.s, b.s, a.n));
}

bool str_ends(struct str s, const char *end);

/* Returns the length of the first of `texts`, separated by '|', with which `s` starts; 0: none. */
size_t str_starts_any(struct str s, const char *texts);
/* Returns whether `s` contains one of `texts`, which are separated by '|'. */
bool str_has_any(struct str s, const char *texts);

/* Returns the offset of the first `what` in `s`, or -1. */
long str_find(struct str s, const char *what);
static inline bool str_has(struct str s, const char *what)
{
	return str_find(s, what) >= 0;
}

/* Returns `s` without blanks at both ends. */
struct str str_trim(struct str s);

/* Removes the next word from the front of `s` and returns it; empty at the end. */
struct str str_word(struct str *s);

/* Parse the digits at the front of `s`. Return the number of digits; 0: none, or too many. */
size_t str_hex(struct str s, uint64_t *ret);
size_t str_decimal(struct str s, uint64_t *ret);

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

#endif
