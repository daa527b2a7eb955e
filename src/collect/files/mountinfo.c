// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/files/mountinfo.h"

/* A line is "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS". */
bool mountinfo_parse(struct span line, struct mount_line *ret)
{
	struct span device, major, minor;
	uint64_t a, b;

	text_word(&line);
	text_word(&line);
	device = text_word(&line);
	text_word(&line);
	ret->point = text_word(&line);
	while (line.len && !text_is(text_word(&line), "-"))
		;
	ret->type = text_word(&line);
	text_word(&line);
	ret->options = text_word(&line);
	if (!ret->type.len || !text_split(device, ':', &major, &minor) || text_number(major, &a) ||
	    text_number(minor, &b))
		return false;
	ret->device = mountinfo_device(a, b);
	return true;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

bool mountinfo_path(struct span point, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < point.len; i++) {
		const char *s = point.s + i;

		if (n + 1 >= size)
			return false;
		if (*s == '\\' && i + 3 < point.len && is_octal(s[1]) && is_octal(s[2]) &&
		    is_octal(s[3])) {
			ret[n++] = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			i += 3;
		} else {
			ret[n++] = *s;
		}
	}
	if (n >= size)
		return false;
	ret[n] = 0;
	return true;
}
