// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "triage/shape.h"

#include "triage/prefix.h"

#define SEEN_MOST   256 /* number of lines examined for each marker */
#define LINES_LEAST 3	/* a prefix counts if at least so many markers follow it */
#define CANDIDATES  16

/* Beginnings of lines that only kernels print. */
static const char *const markers[] = {
	"RIP: 0010:",
	"Call Trace:",
	"Call trace:",
	"CPU: ",
	"BUG: ",
	"Oops: ",
	"Modules linked in:",
	"Hardware name: ",
	"Unable to handle kernel ",
	"Internal error: ",
	"#PF: ",
	"WARNING: CPU: ",
	"RAX: ",
	"pc : ",
	"Workqueue: ",
	"Kernel panic - not syncing",
};

static bool is_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t run(struct str s, size_t at, bool (*is)(char c))
{
	size_t n = 0;

	while (at + n < s.n && is(s.s[at + n]))
		n++;
	return n;
}

/*
 * Returns the length of the start of `s` that has the shape of `prefix`; 0: it has another shape.
 * The word "kernel" stands for itself, because other programs have the same shape of prefix.
 */
static size_t fits(struct str prefix, struct str s)
{
	size_t p = 0, at = 0;

	while (p < prefix.n) {
		size_t words = run(prefix, p, is_word), blanks = run(prefix, p, is_blank), n;

		if (words) {
			n = run(s, at, is_word);
			if (!n || (str_is(str_first(str_from(prefix, p), words), "kernel") &&
				   !str_is(str_first(str_from(s, at), n), "kernel")))
				return 0;
			p += words;
		} else if (blanks) {
			n = run(s, at, is_blank);
			if (!n)
				return 0;
			p += blanks;
			/* further blanks after the prefix indent the kernel's text */
			if (p == prefix.n && n > blanks)
				n = blanks;
		} else {
			if (str_at(s, at) != prefix.s[p])
				return 0;
			n = 1;
			p++;
		}
		at += n;
	}
	return at;
}

/* Returns the unknown part of what precedes the kernel's text, which starts at offset `at`. */
static struct str unknown_part(struct str line, size_t at)
{
	for (size_t k = 0; k < at; k++) {
		struct log_line unused = {};
		struct str rest = str_from(line, k);

		if (k && (is_blank(line.s[k]) || (is_word(line.s[k]) && is_word(line.s[k - 1]))))
			continue; /* a known prefix begins with a whole word */
		prefix_strip(&rest, &unused);
		if (unused.user)
			return (struct str){}; /* a program printed the line */
		/* the kernel's text may be indented */
		if ((rest.s - line.s) + (long)run(rest, 0, is_blank) >= (long)at)
			return str_first(line, k);
	}
	line = str_first(line, at);
	/* "name[pid]: " is of a program, too */
	return str_ends(str_trim(line), "]:") && !str_has(line, "kernel[") ? (struct str){} : line;
}

struct candidate {
	struct str prefix;
	uint32_t markers; /* bit mask of the markers that follow the prefix */
};

static void candidate_count(struct candidate *c, size_t *n, struct str prefix, size_t marker)
{
	for (size_t i = 0; i < *n; i++)
		if (fits(c[i].prefix, prefix) == prefix.n) {
			c[i].markers |= 1u << marker;
			return;
		}
	if (*n < CANDIDATES)
		c[(*n)++] = (struct candidate){prefix, 1u << marker};
}

static int bits_in(uint32_t mask)
{
	int n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

void shapes_learn(struct shapes *ret, struct str data)
{
	struct candidate c[CANDIDATES];
	size_t n = 0;

	for (size_t m = 0; m < sizeof(markers) / sizeof(markers[0]); m++) {
		size_t seen = 0, length = strlen(markers[m]);
		struct str rest = data;
		long found;

		while (seen++ < SEEN_MOST && (found = str_find(rest, markers[m])) >= 0) {
			const char *text = rest.s + found, *begin = text, *limit = text;
			struct str line;

			limit = text - data.s > SHAPE_MOST ? text - SHAPE_MOST : data.s;
			while (begin > limit && begin[-1] != '\n' && begin[-1] != '\r')
				begin--;
			rest = str_from(rest, found + length);
			if (begin == text || (begin == limit && limit != data.s))
				continue;
			line = (struct str){begin, text - begin + length};
			if (str_starts_any(line, "WARNING: |Oops: |BUG: |INFO: |Code: "))
				continue;
			line = unknown_part(line, text - begin);
			if (line.n)
				candidate_count(c, &n, line, m);
		}
	}
	ret->n = 0;
	for (size_t i = 0; i < n && ret->n < SHAPES_MAX; i++)
		if (bits_in(c[i].markers) >= LINES_LEAST)
			ret->prefix[ret->n++] = c[i].prefix;
}

size_t shape_length(const struct shapes *shapes, struct str s)
{
	for (size_t i = 0; i < shapes->n; i++) {
		size_t n = fits(shapes->prefix[i], str_first(s, 2 * SHAPE_MOST));

		if (n)
			return n;
	}
	return 0;
}
