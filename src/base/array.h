/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: texts in arrays of a fixed size: what does not fit is cut off. */
#ifndef FS_BASE_ARRAY_H
#define FS_BASE_ARRAY_H

#include <stddef.h>

void array_copy(char *ret, size_t size, const char *s);
void array_append(char *ret, size_t size, const char *s);

#endif
