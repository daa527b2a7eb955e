/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A strict parser of metrics pages, for unit tests and the fuzzer. It shares no code with the
 * functions that write the pages, so that it notices their errors.
 */
#ifndef FS_TESTS_PAGE_CHECK_H
#define FS_TESTS_PAGE_CHECK_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static inline const char *page_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return NULL;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return s;
}

/* Returns the end of a quoted value, or NULL if it is invalid. Adds its length to *characters. */
static inline const char *page_value(const char *s, size_t *characters)
{
	if (*s++ != '"')
		return NULL;
	while (*s != '"') {
		uint32_t code;
		int n = utf8_decode(s, &code);

		if (!n || *s == '\n' || !*s)
			return NULL;
		if (*s == '\\' && !strchr("\\\"n", s[1]))
			return NULL;
		s += *s == '\\' ? 2 : n;
		++*characters;
	}
	return s + 1;
}

static inline const char *page_labels(const char *s, size_t *characters)
{
	if (*s != '{')
		return s;
	s++;
	while (*s != '}') {
		const char *end = page_name(s);

		if (!end || *end != '=')
			return NULL;
		*characters += end - s;
		s = page_value(end + 1, characters);
		if (!s || (*s != ',' && *s != '}'))
			return NULL;
		s += *s == ',';
	}
	return s + 1;
}

static inline const char *page_number(const char *s)
{
	char *end;

	if (*s != ' ')
		return NULL;
	strtod(s + 1, &end);
	return end > s + 1 ? end : NULL;
}

static inline bool page_sample(const char *s, bool open)
{
	size_t characters = 0;

	s = page_name(s);
	s = s ? page_labels(s, &characters) : NULL;
	s = s ? page_number(s) : NULL;
	if (s && open && !strncmp(s, " # {", 4)) {
		characters = 0;
		s = page_labels(s + 3, &characters);
		s = s && characters <= 128 ? page_number(s) : NULL;
		if (s && *s == ' ')
			s = page_number(s);
	}
	return s && *s == '\n';
}

/* Returns NULL if every line of the page is valid, else the first invalid line. */
static inline const char *page_text_error(const struct buf *b, bool open)
{
	const char *s = b->s, *end = b->s + b->len;
	bool ended = false;

	if (!b->len || strlen(s) != b->len || end[-1] != '\n')
		return s;
	for (; s < end; s = strchr(s, '\n') + 1) {
		if (ended)
			return s;
		if (open && !strncmp(s, "# EOF\n", 6))
			ended = true;
		else if (!strncmp(s, "# HELP ", 7) || !strncmp(s, "# TYPE ", 7) ||
			 (open && !strncmp(s, "# UNIT ", 7))) {
			if (!page_name(s + 7) || *page_name(s + 7) != ' ')
				return s;
		} else if (!page_sample(s, open)) {
			return s;
		}
	}
	return open && !ended ? end : NULL;
}

static inline bool page_varint(const unsigned char **at, const unsigned char *end, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char c = *(*at)++;

		*ret |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return true;
	}
	return false;
}

/* Returns whether the bytes are nested protobuf messages of the metrics format. */
static inline bool page_message(const unsigned char *at, const unsigned char *end)
{
	uint64_t key, n;

	while (at < end) {
		if (!page_varint(&at, end, &key))
			return false;
		if ((key & 7) == 1) {
			if (end - at < 8)
				return false;
			at += 8;
			continue;
		}
		if (!page_varint(&at, end, &n))
			return false;
		if ((key & 7) == 0)
			continue;
		if ((key & 7) != 2 || n > (uint64_t)(end - at))
			return false;
		at += n;
	}
	return true;
}

static inline bool page_is_protobuf(const struct buf *b)
{
	const unsigned char *at = (const unsigned char *)b->s, *end = at + b->len;
	uint64_t n;

	while (at < end) {
		if (!page_varint(&at, end, &n) || n > (uint64_t)(end - at) ||
		    !page_message(at, at + n))
			return false;
		at += n;
	}
	return true;
}

#endif
