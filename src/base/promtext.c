// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/promtext.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MOST 64

/* What is left of one line. */
struct cursor {
	const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
		c->at++;
}

static bool take(struct cursor *c, char wanted)
{
	skip_blanks(c);
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool is_name(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || c == ':' ||
	       (!first && isdigit((unsigned char)c));
}

static bool take_name(struct cursor *c, struct prom_span *ret)
{
	skip_blanks(c);
	ret->s = c->at;
	while (c->at < c->end && is_name(*c->at, c->at == ret->s))
		c->at++;
	ret->len = c->at - ret->s;
	return ret->len > 0;
}

/* To the quote that no backslash is before. */
static bool take_string(struct cursor *c, struct prom_span *ret)
{
	if (!take(c, '"'))
		return false;
	ret->s = c->at;
	while (c->at < c->end && *c->at != '"')
		c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
	ret->len = c->at - ret->s;
	return take(c, '"');
}

static bool take_labels(struct cursor *c, struct prom_sample *ret)
{
	struct prom_span name, value;

	if (!take(c, '{'))
		return true;
	while (!take(c, '}')) {
		if (!take_name(c, &name) || !take(c, '=') || !take_string(c, &value) ||
		    ret->labels == PROM_LABELS_MAX)
			return false;
		ret->label[ret->labels].name = name;
		ret->label[ret->labels++].value = value;
		if (!take(c, ',') && (c->at == c->end || *c->at != '}'))
			return false;
	}
	return true;
}

/* Go's spellings of what is no number are strtod()'s: NaN, +Inf, -Inf. */
static bool take_value(struct cursor *c, double *ret)
{
	char text[NUMBER_MOST], *end;
	size_t len = 0;

	skip_blanks(c);
	while (c->at + len < c->end && c->at[len] != ' ' && c->at[len] != '\t')
		len++;
	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, c->at, len);
	text[len] = 0;
	*ret = strtod(text, &end);
	c->at += len;
	return *end == 0;
}

/* A time, and behind it "# {…}", are of no interest; anything else makes the line none. */
static bool take_rest(struct cursor *c)
{
	double time;

	skip_blanks(c);
	if (c->at < c->end && *c->at != '#' && !take_value(c, &time))
		return false;
	skip_blanks(c);
	return c->at == c->end || *c->at == '#';
}

static bool parse_line(struct cursor *c, struct prom_sample *ret)
{
	ret->labels = 0;
	return take_name(c, &ret->name) && take_labels(c, ret) && take_value(c, &ret->value) &&
	       take_rest(c);
}

int prom_next(const char **at, const char *end, struct prom_sample *ret)
{
	while (*at < end) {
		const char *newline = memchr(*at, '\n', end - *at);
		struct cursor c = {*at, newline ? newline : end};

		*at = newline ? newline + 1 : end;
		if (c.end > c.at && c.end[-1] == '\r')
			c.end--;
		skip_blanks(&c);
		if (c.at < c.end && *c.at != '#')
			return parse_line(&c, ret) ? 1 : -EBADMSG;
	}
	return 0;
}

bool prom_is(struct prom_span s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.s, word, s.len);
}

static void unescape(struct prom_span s, char *ret, size_t size)
{
	size_t to = 0;

	for (size_t i = 0; i < s.len && to + 1 < size; i++) {
		bool escaped = s.s[i] == '\\' && i + 1 < s.len;

		if (escaped)
			i++;
		ret[to++] = escaped && s.s[i] == 'n' ? '\n' : s.s[i] ? s.s[i] : '?';
	}
	ret[to] = 0;
}

bool prom_label(const struct prom_sample *s, const char *name, char *ret, size_t size)
{
	for (size_t i = 0; i < s->labels; i++)
		if (prom_is(s->label[i].name, name)) {
			unescape(s->label[i].value, ret, size);
			return true;
		}
	return false;
}
