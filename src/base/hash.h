/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: computes FNV-1a hashes of texts and bytes. */
#ifndef FS_BASE_HASH_H
#define FS_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN 2166136261u /* FNV-1a offset basis */

/* Hashes a text. `hash` is HASH_BEGIN, or the hash of something that precedes the text. */
uint32_t hash_text(uint32_t hash, const char *text);

#define HASH64_BEGIN 0xcbf29ce484222325ULL

/* Hashes bytes with 64-bit FNV-1a, for keys where a collision would go unnoticed. */
uint64_t hash64_bytes(uint64_t hash, const void *bytes, size_t n);

#endif
