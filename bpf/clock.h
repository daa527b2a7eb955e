/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans of time between readings of the clock on different CPUs. */
#ifndef FS_CLOCK_H
#define FS_CLOCK_H

#include "pure_logic.h"

/*
 * Returns the nanoseconds from `since` to `now`. Clocks of two CPUs may differ by a few
 * nanoseconds: what another CPU noted just before may lie ahead, and counts as 0, not as 584 years.
 * Without a branch, for the verifier.
 */
static __always_inline __u64 ns_between(__u64 since, __u64 now)
{
	__s64 ns = now - since;

	return ns & ~(ns >> 63);
}

#endif
