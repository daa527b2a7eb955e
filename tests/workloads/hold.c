// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps known amounts of memory in several functions. Functions whose name begins with "free_" give
 * all their memory back. With the word "huge", the program asks for huge pages; without it, it has
 * none.
 */
#include "hold.h"

own void hold_mapping_120(void)
{
	char *at = map_own(120 * MIB);

	touch_here(at, 120 * MIB);
}

own void hold_heap_60(void)
{
	for (int i = 0; i < 60 * 16; i++) {
		char *at = malloc(64 << 10);

		memset(at, 1, 64 << 10);
	}
}

own void hold_small_blocks_40(void)
{
	for (int i = 0; i < 40 * 8192; i++) {
		char *at = malloc(112); /* 128 bytes with its header */

		memset(at, 1, 112);
	}
}

own void hold_random_order_24(void)
{
	char *at = map_own(24 * MIB);
	size_t pages = 24 * MIB / 4096, page = 0;

	for (size_t i = 0; i < pages; i++) {
		/* 3571 and the number of pages have no common factor */
		page = (page + 3571) % pages;
		at[page * 4096] = 1;
	}
}

own void hold_every_eighth_page_16(void)
{
	char *at = map_own(128 * MIB);

	madvise(at, 128 * MIB, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < 128 * MIB; i += 8 * 4096)
		at[i] = 1;
}

own void hold_read_into_25(void)
{
	char *at = map_own(25 * MIB);
	int fd = open("/dev/zero", O_RDONLY);

	for (size_t done = 0; done < 25 * MIB;) {
		ssize_t n = read(fd, at + done, 25 * MIB - done);

		if (n <= 0)
			exit(1);
		done += n;
	}
	close(fd);
}

own void hold_shared_32(void)
{
	int fd = memfd_create("held", 0);

	if (ftruncate(fd, 32 * MIB))
		exit(1);
	touch_here(map(32 * MIB, MAP_SHARED, fd), 32 * MIB);
}

own void hold_file_48(const char *path)
{
	char *at = mmap(NULL, 48 * MIB, PROT_READ, MAP_PRIVATE, file_of(path, 48 * MIB), 0);

	read_here(at, 48 * MIB);
	unlink(path);
}

own void *hold_in_thread_20(void *unused)
{
	char *at = map_own(20 * MIB);

	touch_here(at, 20 * MIB);
	return unused;
}

own void free_mapping_200(void)
{
	char *at = map_own(200 * MIB);

	touch_here(at, 200 * MIB);
	munmap(at, 200 * MIB);
}

own void free_by_advice_100(void)
{
	char *at = map_own(100 * MIB);

	touch_here(at, 100 * MIB);
	madvise(at, 100 * MIB, MADV_DONTNEED);
}

own void free_heap_50(void)
{
	char *at = malloc(50 * MIB);

	memset(at, 1, 50 * MIB);
	free(at);
}

own char *map_for_another(size_t bytes)
{
	return map_own(bytes);
}

/* The code that touches a page holds it, not the code that mapped it. */
own void hold_mapped_by_another_30(char *at)
{
	touch_here(at, 30 * MIB);
}

own char *first_owner(void)
{
	char *at = map_own(18 * MIB);

	touch_here(at, 18 * MIB);
	madvise(at, 18 * MIB, MADV_DONTNEED);
	return at;
}

own void hold_touched_again_18(char *at)
{
	touch_here(at, 18 * MIB);
}

int main(int argc, char **argv)
{
	const char *word = NULL;
	pthread_t thread;
	char path[64];

	hold_begin(argc, argv, "[huge]", &word);
	snprintf(path, sizeof(path), "/var/tmp/hold.%d", getpid());
	free_heap_50();
	hold_mapping_120();
	free_mapping_200();
	hold_heap_60();
	hold_small_blocks_40();
	hold_random_order_24();
	hold_every_eighth_page_16();
	free_by_advice_100();
	hold_read_into_25();
	hold_shared_32();
	hold_file_48(path);
	pthread_create(&thread, NULL, hold_in_thread_20, NULL);
	hold_mapped_by_another_30(map_for_another(30 * MIB));
	hold_touched_again_18(first_owner());
	pthread_join(thread, NULL);
	hold_end("\"hold_mapping_120\":120,\"hold_heap_60\":60,\"hold_small_blocks_40\":40,"
		 "\"hold_random_order_24\":24,\"hold_every_eighth_page_16\":16,"
		 "\"hold_read_into_25\":25,\"hold_in_thread_20\":20,"
		 "\"hold_mapped_by_another_30\":30,\"hold_touched_again_18\":18,"
		 "\"hold_shared_32\":32,\"hold_file_48\":48,"
		 "\"free_mapping_200\":0,\"free_by_advice_100\":0,\"free_heap_50\":0");
	return 0;
}
