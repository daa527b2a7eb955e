/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Detects whether a process changed since its last record. */
#ifndef FS_CHANGES_H
#define FS_CHANGES_H

#include "mix.h"
#include "pure_logic.h"
#include "wire.h"

typedef __u64 __attribute__((may_alias)) fs_any_word; /* integer type for members of any type */

/* Returns a hash of all gauges. Different gauges have equal hashes with a probability of 2^-64. */
static __always_inline __u64 hash_gauges(const struct gauges *g)
{
	__u64 hash = 0;

	_Static_assert(sizeof(*g) % sizeof(__u64) == 0, "whole words");
	for (__u32 i = 0; i < sizeof(*g) / sizeof(__u64); i++)
		hash = mix(hash, ((const fs_any_word *)g)[i]);
	return hash;
}

/*
 * Clears a 0/1 flag that threads set after they change a counter. Returns whether the flag was set.
 * The caller reads the counters afterwards. If a thread changes a counter in between, either this
 * scan reads the new value, or the flag is set again for the next scan. Reading and clearing the
 * flag is one atomic step and a barrier.
 */
static __always_inline bool take_flag(__u32 *flag)
{
	return *flag && __sync_lock_test_and_set(flag, 0);
}

/* take_flag() for kernels before 5.12, which have an atomic addition, but no atomic exchange. */
static __always_inline bool take_flag_by_adding(__u32 *flag)
{
	if (!*(volatile __u32 *)flag)
		return false;
	atomic_add(flag, -1);
	return true;
}

#endif
