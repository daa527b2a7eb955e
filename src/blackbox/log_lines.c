// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "blackbox/log_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *has, *and; /* texts that the line must contain; `and` may be NULL */
	enum bb_class class;
	enum bb_severity severity;
} signs[] = {
#define SIGN(has, and, class, severity) {has, and, BB_##class, BB_##severity},
#include "blackbox/signs.def"
};

bool bb_line_parse(const char *record, size_t size, struct bb_line *ret)
{
	char head[64] = {};
	unsigned int level;
	uint64_t us;
	size_t at = 0, n = 0;

	memcpy(head, record, size < sizeof(head) - 1 ? size : sizeof(head) - 1);
	if (sscanf(head, "%u,%*u,%" SCNu64, &level, &us) != 2)
		return false;
	while (at < size && record[at] != ';')
		at++;
	ret->level = level & 7;
	ret->us = us;
	for (at++; at < size && record[at] != '\n' && n < sizeof(ret->text) - 1; at++)
		ret->text[n++] = record[at];
	ret->text[n] = 0;
	return true;
}

enum bb_class bb_line_class(int level, const char *text, enum bb_severity *ret_severity)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strstr(text, signs[i].has) && (!signs[i].and || strstr(text, signs[i].and))) {
			*ret_severity = signs[i].severity;
			return signs[i].class;
		}
	*ret_severity = BB_INFO;
	return level <= BB_LEVEL_WARNING ? BB_CONSOLE : BB_NONE;
}

bool bb_line_ends_oops(const char *text)
{
	return strstr(text, "end trace") || strstr(text, "end Kernel panic");
}
