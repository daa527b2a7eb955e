/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums over what a pure function answers to very many values: another answer to any of them is
 * noticed. A sum of 64 bits (FNV-1a) is kept of each; where a change is meant, take the new one.
 */
#ifndef FS_TESTS_SUMS_H
#define FS_TESTS_SUMS_H

#include "tap.h"

#define SUM_BEGINS 0xcbf29ce484222325

struct sum {
	const char *what;
	uint64_t got, want;
};

static inline void mix(uint64_t *sum, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		*sum = (*sum ^ (value >> 8 * i & 0xff)) * 0x100000001b3;
}

static inline void mix_text(uint64_t *sum, const char *s)
{
	mix(sum, strlen(s));
	for (; *s; s++)
		mix(sum, (unsigned char)*s);
}

/* The same numbers on every machine. */
static inline uint64_t roll(uint64_t *dice)
{
	*dice = *dice * 6364136223846793005 + 1442695040888963407;
	return *dice >> 16;
}

static inline void are_sums(const struct sum *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ok(row[i].got == row[i].want, "%s: 0x%016" PRIx64, row[i].what, row[i].got);
}

#endif
