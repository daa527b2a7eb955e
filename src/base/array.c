// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/array.h"

#include <string.h>

void array_copy(char *ret, size_t size, const char *s)
{
	size_t len = strnlen(s, size - 1);

	memcpy(ret, s, len);
	ret[len] = 0;
}

void array_append(char *ret, size_t size, const char *s)
{
	size_t len = strnlen(ret, size);

	if (len < size)
		array_copy(ret + len, size - len, s);
}
