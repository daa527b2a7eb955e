/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes durations between clock readings of different CPUs. */
#ifndef FS_CLOCK_H
#define FS_CLOCK_H

#include "pure_logic.h"

/*
 * Returns the nanoseconds from `since` to `now`. Clocks of two CPUs may differ by a few
 * nanoseconds. If `since` is later than `now`, the result is 0, not 584 years. The code has no
 * branches, for the verifier.
 */
static __always_inline __u64 ns_between(__u64 since, __u64 now)
{
	__s64 ns = now - since;

	return ns & ~(ns >> 63);
}

#endif
