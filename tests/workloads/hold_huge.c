// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps memory in huge pages that the kernel makes from small pages, and in small pages that were
 * huge pages. MADV_COLLAPSE (Linux 6.1) makes huge pages as khugepaged does.
 */
#include "hold.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define HUGE_BYTES (2 * MIB)

/* Maps memory that begins with a range of 2 MiB. */
static char *map_aligned(size_t bytes, int advice)
{
	char *at = map_own(bytes + HUGE_BYTES);

	at = (char *)(((uintptr_t)at + HUGE_BYTES - 1) & -HUGE_BYTES);
	madvise(at, bytes, advice);
	return at;
}

static void collapse(char *at, size_t bytes)
{
	madvise(at, bytes, MADV_HUGEPAGE);
	if (madvise(at, bytes, MADV_COLLAPSE))
		die("MADV_COLLAPSE");
}

own void hold_collapsed_40(void)
{
	char *at = map_aligned(40 * MIB, MADV_NOHUGEPAGE);

	touch_here(at, 40 * MIB);
	collapse(at, 40 * MIB);
}

/* One of eight pages is not touched. It becomes resident with the huge page. */
own void hold_gaps_collapsed_24(void)
{
	char *at = map_aligned(24 * MIB, MADV_NOHUGEPAGE);

	for (size_t i = 0; i < 24 * MIB; i += PAGE_BYTES)
		if (i / PAGE_BYTES % 8)
			at[i] = 1;
	collapse(at, 24 * MIB);
}

own void hold_huge_30(void)
{
	touch_here(map_aligned(30 * MIB, MADV_HUGEPAGE), 30 * MIB);
}

/*
 * Half of each huge page is freed, so that the kernel splits it. khugepaged must not fill the freed
 * half again.
 */
own void hold_split_20(void)
{
	char *at = map_aligned(40 * MIB, MADV_HUGEPAGE);

	touch_here(at, 40 * MIB);
	madvise(at, 40 * MIB, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 40 * MIB; i += HUGE_BYTES)
		madvise(at + i, HUGE_BYTES / 2, MADV_DONTNEED);
}

int main(int argc, char **argv)
{
	const char *word = NULL;

	hold_begin(argc, argv, "huge", &word);
	hold_huge_30();
	hold_split_20();
	hold_collapsed_40();
	hold_gaps_collapsed_24();
	hold_end("\"hold_huge_30\":30,\"hold_split_20\":20,\"hold_collapsed_40\":40,"
		 "\"hold_gaps_collapsed_24\":24");
	return 0;
}
