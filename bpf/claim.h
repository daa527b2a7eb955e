/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A lock for memory that the BPF programs of one CPU share. No program waits for the lock: claim()
 * fails instead.
 */
#ifndef FS_CLAIM_H
#define FS_CLAIM_H

#include "pure_logic.h"

/*
 * Returns true if the caller is the only user until unclaim(). Kernels before 5.12 have no atomic
 * addition that returns a value, so the counter is read after the addition. Two concurrent callers
 * may both fail, but never both succeed: the caller that reads the counter later sees both
 * additions.
 */
static __always_inline bool claim(__u32 *users)
{
	atomic_add(users, 1);
	if (*(volatile __u32 *)users == 1)
		return true;
	atomic_add(users, -1);
	return false;
}

static __always_inline void unclaim(__u32 *users)
{
	atomic_add(users, -1);
}

#endif
