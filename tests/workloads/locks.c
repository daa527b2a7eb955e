/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes threads wait for mmap_lock, in two ways. Either several threads map, touch and unmap memory
 * at the same time, or a single thread waits for another process that reads smaps of this process.
 * Such a read takes longer if more memory is mapped.
 */
#include "common.h"

#define MOST_THREADS 64

static long rounds, seconds, beside_mib;

static void change_once(void)
{
	char *area = mmap(NULL, 64 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		die("mmap");
	write_pages(area, 64);
	munmap(area, 64 * PAGE_BYTES);
}

static void *change(void *arg)
{
	(void)arg;
	if (seconds) {
		time_t end = time(NULL) + seconds;

		while (time(NULL) < end)
			change_once();
		return NULL;
	}
	for (long i = 0; i < rounds; i++)
		change_once();
	return NULL;
}

/* Touches memory in small pages, so that a read of smaps takes long. */
static void touch_beside(void)
{
	size_t bytes = (size_t)beside_mib << 20;
	char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		die("mmap");
	madvise(area, bytes, MADV_NOHUGEPAGE);
	write_pages(area, bytes / PAGE_BYTES);
}

int main(int argc, char **argv)
{
	static const struct opt opts[] = {
		{ "seconds", OPT_NUMBER, &seconds },
		{ "beside-mib", OPT_NUMBER, &beside_mib },
		{ 0 },
	};
	pthread_t thread[MOST_THREADS];
	const char *words[2];
	long threads;

	parse_args(argc, argv, "THREADS ROUNDS [--seconds N] [--beside-mib N]", opts, words, 2, 2);
	threads = parse_number(words[0]);
	rounds = parse_number(words[1]);
	if (threads > MOST_THREADS)
		die("at most %d threads", MOST_THREADS);
	if (beside_mib)
		touch_beside();
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
