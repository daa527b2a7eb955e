/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mixes a value into a hash. */
#ifndef FS_MIX_H
#define FS_MIX_H

#include "pure_logic.h"

/*
 * Different values give different hashes, and each bit of a value changes about half of the bits.
 */
static __always_inline __u64 mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15UL;
	return hash ^ hash >> 29;
}

#endif
