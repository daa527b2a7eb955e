/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes N one-page mappings that cannot merge. Without N, makes as many as the kernel permits. With
 * --crash, writes to the address that the failed mmap() returned, at once: it does not count its
 * maps, since that can take a second on a busy machine.
 */
#include "common.h"

#define MOST_MAPS (1L << 20)

static void *maps[MOST_MAPS];

int main(int argc, char **argv)
{
	long wanted, made = 0, rate = 0, before, after;
	bool unmap = false, crash = false;
	const struct opt opts[] = {
		{ "rate", OPT_NUMBER, &rate },
		{ "unmap", OPT_FLAG, &unmap },
		{ "crash", OPT_FLAG, &crash },
		{ 0 },
	};
	const char *word;
	int refusal = 0;
	long long start;

	parse_args(argc, argv, "N|limit [--rate PER_SEC] [--unmap] [--crash]", opts, &word, 1, 1);
	wanted = parse_count(word);
	before = map_count();
	wait_for_go();

	start = now_ns();
	for (; made < wanted && made < MOST_MAPS; made++) {
		maps[made] = map_unmergeable(made);
		if (maps[made] == MAP_FAILED) {
			refusal = errno;
			break;
		}
		keep_rate(start, made + 1, rate);
	}
	after = crash ? 0 : map_count();
	for (long i = 0; unmap && i < made; i++)
		if (munmap(maps[i], PAGE_BYTES))
			die("munmap of map %ld", i);

	truth_open();
	truth_number("maps_made", made);
	truth_errno(refusal);
	if (!crash) {
		truth_number("map_count_before", before);
		truth_number("map_count", after);
		truth_number("map_count_now", map_count());
	}
	truth_close();
	if (crash && refusal)
		*(volatile char *)maps[made] = 1; /* writes to MAP_FAILED */
	return 0;
}
