// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/files/file_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

struct span text_trim(struct span s)
{
	while (s.len && is_blank(s.s[0]))
		s.s++, s.len--;
	while (s.len && is_blank(s.s[s.len - 1]))
		s.len--;
	return s;
}

bool text_line(struct text_lines *l, struct span *ret)
{
	const char *end;
	size_t len;

	if (!l->rest.len)
		return false;
	end = memchr(l->rest.s, '\n', l->rest.len);
	len = end ? (size_t)(end - l->rest.s) : l->rest.len;
	*ret = text_trim((struct span){l->rest.s, len});
	l->rest.s += len + (end ? 1 : 0);
	l->rest.len -= len + (end ? 1 : 0);
	l->line++;
	return true;
}

struct span text_word(struct span *line)
{
	struct span word = {line->s, 0};

	while (word.len < line->len && !is_blank(line->s[word.len]))
		word.len++;
	*line = text_trim((struct span){line->s + word.len, line->len - word.len});
	return word;
}

bool text_split(struct span s, char at, struct span *ret_left, struct span *ret_right)
{
	const char *mid = s.len ? memchr(s.s, at, s.len) : NULL;

	if (!mid)
		return false;
	*ret_left = text_trim((struct span){s.s, mid - s.s});
	*ret_right = text_trim((struct span){mid + 1, s.s + s.len - mid - 1});
	return true;
}

bool text_is(struct span s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.s, word, s.len);
}

void text_copy(struct span s, char *ret, size_t size)
{
	size_t len = s.len < size - 1 ? s.len : size - 1;

	/* a NUL within the text would end the string too early */
	for (size_t i = 0; i < len; i++)
		ret[i] = s.s[i] ? s.s[i] : ' ';
	ret[len] = 0;
}

static int scale(const char *suffix, uint64_t *ret_shift)
{
	static const char units[] = "KMGTPE";
	const char *at;

	*ret_shift = 0;
	if (!*suffix)
		return 0;
	at = strchr(units, *suffix);
	/* the kernel also accepts lower-case suffixes: "64k" */
	if (!at && *suffix >= 'a')
		at = strchr(units, *suffix - 'a' + 'A');
	if (!at || (suffix[1] && strcmp(suffix + 1, "B") && strcmp(suffix + 1, "iB")))
		return -EINVAL;
	*ret_shift = 10 * (at - units + 1);
	return 0;
}

int text_number(struct span s, uint64_t *ret)
{
	uint64_t value, shift;
	char text[48], *end;

	if (text_is(s, "infinity") || text_is(s, "unlimited") || text_is(s, "max") ||
	    text_is(s, "-1")) {
		*ret = LIMIT_NONE;
		return 0;
	}
	if (!s.len || s.len >= sizeof(text) || s.s[0] < '0' || s.s[0] > '9')
		return -EINVAL;
	text_copy(s, text, sizeof(text));
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || scale(end, &shift))
		return -EINVAL;
	*ret = value > UINT64_MAX >> shift ? LIMIT_NONE : value << shift;
	return 0;
}

int text_pair(struct span s, uint64_t *ret_soft, uint64_t *ret_hard)
{
	struct span left = s, right = s;
	uint64_t soft, hard;

	text_split(s, ':', &left, &right);
	if (text_number(left, &soft) || text_number(right, &hard))
		return -EINVAL;
	*ret_soft = soft;
	*ret_hard = hard;
	return 0;
}

void text_keep(struct origin_line *ret, const char *file, unsigned int line, struct span text,
	       struct span value)
{
	memset(ret, 0, sizeof(*ret));
	text_copy((struct span){file, strlen(file)}, ret->file, sizeof(ret->file));
	ret->line = line;
	text_copy(text, ret->text, sizeof(ret->text));
	text_copy(value, ret->value, sizeof(ret->value));
}

bool text_rlimit(struct span text, const char *title, uint64_t *ret_soft, uint64_t *ret_hard)
{
	struct text_lines lines = {.rest = text};
	size_t len = strlen(title);
	struct span line;
	uint64_t soft, hard;

	while (text_line(&lines, &line)) {
		if (line.len <= len || memcmp(line.s, title, len) || !is_blank(line.s[len]))
			continue;
		line = text_trim((struct span){line.s + len, line.len - len});
		if (text_number(text_word(&line), &soft) || text_number(text_word(&line), &hard))
			return false;
		*ret_soft = soft;
		*ret_hard = hard;
		return true;
	}
	return false;
}

bool text_status(struct span text, const char *key, struct span *ret)
{
	struct text_lines lines = {.rest = text};
	struct span line, left, right;

	while (text_line(&lines, &line)) {
		if (!text_split(line, ':', &left, &right) || !text_is(left, key))
			continue;
		*ret = right;
		return true;
	}
	return false;
}
