/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: a number of a text, for tables by name. */
#ifndef FS_BASE_HASH_H
#define FS_BASE_HASH_H

#include <stdint.h>

#define HASH_BEGIN 2166136261u /* FNV-1a of nothing */

/* Goes on from `hash`: HASH_BEGIN, or that with something else in it that tells texts apart. */
uint32_t hash_text(uint32_t hash, const char *text);

#endif
