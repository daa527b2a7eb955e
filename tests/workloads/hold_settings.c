// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps memory in ways that need settings of the machine.
 *
 * usage: hold_settings MODE
 *	swap	needs swap: memory is swapped out, and a part of it is swapped in again
 *	hugetlb	needs 8 free huge pages of 2 MiB
 *	folios	needs large folios of 64 KiB, and that transparent huge pages are "always" used
 */
#include "hold.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

own char *hold_swapped_60(void)
{
	char *at = map_own(60 * MIB);

	touch_here(at, 60 * MIB);
	if (madvise(at, 60 * MIB, MADV_PAGEOUT))
		die("MADV_PAGEOUT");
	return at;
}

/* The pages keep their owner. */
own void swap_in_20(char *at)
{
	read_here(at, 20 * MIB);
	touch_here(at, 10 * MIB);
}

own void hold_hugetlb_16(void)
{
	char *at = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (at == MAP_FAILED)
		die("mmap MAP_HUGETLB");
	touch_here(at, 16 * MIB);
}

own void hold_folios_32(void)
{
	char *at = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	touch_here(at, 32 * MIB);
}

int main(int argc, char **argv)
{
	const char *mode = NULL;

	parse_args(argc, argv, "swap|hugetlb|folios", NULL, &mode, 0, 1);
	wait_for_go();
	if (mode && !strcmp(mode, "swap")) {
		swap_in_20(hold_swapped_60());
		hold_end("\"hold_swapped_60\":60,\"swap_in_20\":0");
	} else if (mode && !strcmp(mode, "hugetlb")) {
		hold_hugetlb_16();
		hold_end("\"hold_hugetlb_16\":16");
	} else if (mode && !strcmp(mode, "folios")) {
		hold_folios_32();
		hold_end("\"hold_folios_32\":32");
	} else {
		wrong_usage("swap|hugetlb|folios");
	}
	return 0;
}
