// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/key_values.h"

static const char blanks[] = " \t\r";

/* Returns the length of the text without the blanks at its end. */
static size_t trimmed(const char *s, size_t len)
{
	while (len && memchr(blanks, s[len - 1], sizeof(blanks) - 1))
		len--;
	return len;
}

/* Moves *s behind the blanks at the beginning. */
static void skip_blanks(const char **s, size_t *len)
{
	while (*len && memchr(blanks, **s, sizeof(blanks) - 1)) {
		(*s)++;
		(*len)--;
	}
}

enum key_value_line key_value_next(const char **at, struct key_value *ret)
{
	const char *s = *at, *equal;
	size_t len = strcspn(s, "\n");

	if (!*s)
		return LINE_NONE;
	*at = s + len + (s[len] == '\n');
	*ret = (struct key_value){.line = s, .line_len = len, .number = ret->number + 1};
	skip_blanks(&s, &len);
	len = trimmed(s, len);
	if (!len || *s == '#')
		return LINE_COMMENT;
	equal = memchr(s, '=', len);
	if (!equal || equal == s)
		return LINE_WRONG;
	ret->key = s;
	ret->key_len = trimmed(s, equal - s);
	ret->value = equal + 1;
	ret->value_len = s + len - ret->value;
	skip_blanks(&ret->value, &ret->value_len);
	return LINE_PAIR;
}

bool key_values_are_text(const char *s, size_t len)
{
	uint32_t code;
	int n;

	for (size_t i = 0; i < len; i += n) {
		n = 1;
		if (s[i] == '\n' || s[i] == '\t' || s[i] == '\r')
			continue;
		n = utf8_decode(s + i, &code);
		if (!n || !code || utf8_is_unsafe(code))
			return false;
	}
	return true;
}

void key_values_change(struct buf *to, const char *text, const char *key, const char *value)
{
	struct key_value line = {};
	enum key_value_line kind;
	bool last_has_end = true;

	while ((kind = key_value_next(&text, &line))) {
		bool found = kind == LINE_PAIR && line.key_len == strlen(key) &&
			     !memcmp(line.key, key, line.key_len);

		last_has_end = text[-1] == '\n';
		if (!found)
			buf_add(to, line.line, line.line_len);
		else if (value)
			buf_printf(to, "%s = %s", key, value);
		else
			continue;
		if (found)
			value = NULL;
		buf_puts(to, last_has_end ? "\n" : "");
	}
	if (value)
		buf_printf(to, "%s%s = %s\n", last_has_end ? "" : "\n", key, value);
}
