/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that map, touch and unmap at the same time: each waits for the lock that another has. */
#include "common.h"

#define MOST_THREADS 64

static long rounds;

static void *change(void *arg)
{
	(void)arg;
	for (long i = 0; i < rounds; i++) {
		char *area = mmap(NULL, 64 * PAGE_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (area == MAP_FAILED)
			die("mmap");
		write_pages(area, 64);
		munmap(area, 64 * PAGE_BYTES);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST_THREADS];
	const char *words[2];
	long threads;

	parse_args(argc, argv, "THREADS ROUNDS", NULL, words, 2, 2);
	threads = parse_number(words[0]);
	rounds = parse_number(words[1]);
	if (threads > MOST_THREADS)
		die("at most %d threads", MOST_THREADS);
	wait_for_go();
	for (long i = 0; i < threads; i++)
		thread[i] = start_thread(change, NULL);
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	truth_open();
	truth_number("threads", threads);
	truth_number("rounds", rounds);
	truth_close();
	return 0;
}
