// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/setting.h"

#include <string.h>

const struct setting *setting_find(const struct setting *s, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s[i].key, key))
			return &s[i];
	return NULL;
}

const struct setting *setting_use(const struct setting *s, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].of && s[i].known && !strcmp(s[i].of, key))
			return &s[i];
	return NULL;
}
