/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds texts of triage to checksums. */
#ifndef FS_TESTS_TRIAGE_SUMS_H
#define FS_TESTS_TRIAGE_SUMS_H

#include "sums.h"
#include "triage/str.h"

static inline void mix_str(uint64_t *sum, struct str s)
{
	mix(sum, s.n);
	for (size_t i = 0; i < s.n; i++)
		*sum = (*sum ^ (unsigned char)s.s[i]) * 0x100000001b3;
}

#endif
