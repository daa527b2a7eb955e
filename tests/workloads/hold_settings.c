// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps memory in ways that need settings of the machine.
 *
 * usage: hold_settings MODE
 *	swap	needs swap: memory is swapped out, and a part of it is swapped in again
 *	hugetlb	needs 8 free huge pages of 2 MiB
 *	numa	needs two NUMA nodes with one CPU each, and NUMA balancing
 *	folios	needs large folios of 64 KiB, and that transparent huge pages are "always" used
 */
#include "hold.h"

#include <sched.h>

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

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static long hint_faults(void)
{
	char line[128];
	FILE *f = fopen("/proc/vmstat", "r");
	long n = -1;

	while (f && n < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "numa_hint_faults %ld", &n);
	if (f)
		fclose(f);
	return n;
}

own char *hold_numa_40(void)
{
	char *at = map_own(40 * MIB);

	run_on(0);
	touch_here(at, 40 * MIB);
	return at;
}

/* Uses the memory on another node, until the kernel has marked and moved most of its pages. */
own void use_numa_40(char *at)
{
	long before = hint_faults();

	run_on(1);
	while (hint_faults() < before + 8000)
		touch_here(at, 40 * MIB);
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

	parse_args(argc, argv, "swap|hugetlb|numa|folios", NULL, &mode, 0, 1);
	wait_for_go();
	if (mode && !strcmp(mode, "swap")) {
		swap_in_20(hold_swapped_60());
		hold_end("\"hold_swapped_60\":60,\"swap_in_20\":0");
	} else if (mode && !strcmp(mode, "hugetlb")) {
		hold_hugetlb_16();
		hold_end("\"hold_hugetlb_16\":16");
	} else if (mode && !strcmp(mode, "numa")) {
		use_numa_40(hold_numa_40());
		hold_end("\"hold_numa_40\":40,\"use_numa_40\":0");
	} else if (mode && !strcmp(mode, "folios")) {
		hold_folios_32();
		hold_end("\"hold_folios_32\":32");
	} else {
		wrong_usage("swap|hugetlb|numa|folios");
	}
	return 0;
}
