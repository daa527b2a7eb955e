/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells that a process changed since its last record. */
#ifndef FS_CHANGES_H
#define FS_CHANGES_H

#include "pure_logic.h"
#include "wire.h"

typedef __u64 __attribute__((may_alias)) fs_any_word; /* of members of whatever type */

/* Returns a hash of all gauges. Two that differ in any field have the same one once in 2^64. */
static __always_inline __u64 hash_gauges(const struct gauges *g)
{
	__u64 hash = 0;

	_Static_assert(sizeof(*g) % sizeof(__u64) == 0, "whole words");
	for (__u32 i = 0; i < sizeof(*g) / sizeof(__u64); i++) {
		hash = (hash ^ ((const fs_any_word *)g)[i]) * 0x9e3779b97f4a7c15UL;
		hash ^= hash >> 29;
	}
	return hash;
}

/*
 * Clears a flag, 0 or 1, that others set after each counter that they move. Returns whether it was
 * set. The caller reads the counters afterwards: one that moves meanwhile is read then, or its flag
 * is still set for the next time. Reading and clearing is one step, and a barrier.
 */
static __always_inline bool take_flag(__u32 *flag)
{
	return *flag && __sync_lock_test_and_set(flag, 0);
}

/* The same for kernels before 5.12, which can add in one step, but not exchange. */
static __always_inline bool take_flag_by_adding(__u32 *flag)
{
	if (!*(volatile __u32 *)flag)
		return false;
	atomic_add(flag, -1);
	return true;
}

#endif
