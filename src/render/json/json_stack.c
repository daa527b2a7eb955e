// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "render/json/json_stack.h"

#include <stdio.h>
#include <string.h>

void json_stack(struct json *j, const char *key, const struct frames *f)
{
	const char *at = f ? f->text : "";
	char line[512];

	json_array(j, key);
	while (*at) {
		size_t n = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(n < 500 ? n : 500), at);
		json_text(j, NULL, line);
		at += n + (at[n] == '\n');
	}
	json_end_array(j);
}
