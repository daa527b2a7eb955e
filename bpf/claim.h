/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mutual exclusion without waiting, for memory that a CPU's programs share. */
#ifndef FS_CLAIM_H
#define FS_CLAIM_H

#include "pure_logic.h"

/*
 * Returns true where the caller is the only user from now until unclaim(). The addition does not
 * answer, because kernels before 5.12 have no atomic that does: the value is read after it. Of two
 * callers that come at once both may be refused, but never both admitted, since the later one reads
 * the additions of both.
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
