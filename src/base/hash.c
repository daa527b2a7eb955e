// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/hash.h"

#define FNV_PRIME 16777619u

uint32_t hash_text(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return hash;
}
