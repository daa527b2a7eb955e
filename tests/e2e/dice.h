/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pseudorandom sequence for programs that write made-up recordings. It is the same on every
 * machine. Set `dice` to a seed other than 0 before the first use.
 */
#ifndef FS_TESTS_DICE_H
#define FS_TESTS_DICE_H

#include <stdint.h>

static uint64_t dice;

/* Returns the next pseudorandom number below `below`, by xorshift64. Returns 0 if `below` is 0. */
static inline uint64_t roll(uint64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return below ? dice % below : 0;
}

/* Returns one of its arguments at random. */
#define ONE_OF(...)                                                                                \
	({                                                                                         \
		const uint64_t some[] = {__VA_ARGS__};                                             \
		some[roll(sizeof(some) / sizeof(some[0]))];                                        \
	})

#endif
