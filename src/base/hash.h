/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: a number of a text or of bytes, for tables by name and for what changed. */
#ifndef FS_BASE_HASH_H
#define FS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 2166136261u /* FNV-1a of nothing */

/* Goes on from `hash`: HASH_BEGIN, or that with something else in it that tells texts apart. */
uint32_t hash_text(uint32_t hash, const char *text);

#define HASH64_BEGIN 0xcbf29ce484222325ULL

/* The same with 64 bits, where two that are equal by chance would be taken for one. */
uint64_t hash64_bytes(uint64_t hash, const void *bytes, size_t n);

#endif
