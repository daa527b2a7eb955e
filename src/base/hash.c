// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hash.h"

#define FNV_PRIME   16777619u
#define FNV64_PRIME 0x100000001b3ULL

uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return hash;
}

uint64_t hash64_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n--)
		hash = (hash ^ *p++) * FNV64_PRIME;
	return hash;
}
