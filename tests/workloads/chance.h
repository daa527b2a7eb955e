/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random numbers for tests. The same seed gives the same numbers on every machine. */
#ifndef CHANCE_H
#define CHANCE_H

#include <stdint.h>

static uint64_t seed = 42;

/* Returns a number between 0 and 1, uniformly distributed (linear congruential generator). */
static inline double chance(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(seed >> 11) / (1ULL << 53);
}

static inline double between(double low, double high)
{
	return low + (high - low) * chance();
}

/* Returns an approximately normally distributed number with mean 0 and variance 1. */
static inline double normal(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += chance();
	return sum - 6;
}

#endif
