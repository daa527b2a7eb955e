/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Touches exactly N anonymous pages of 4 KiB for the first time, in one thread or several threads.
 */
#include "common.h"

struct slice {
	pthread_t thread;
	char *base;
	long pages;
	struct faults made;
};

static void *touch_slice(void *arg)
{
	struct slice *slice = arg;
	struct faults start;

	faults_now(RUSAGE_THREAD);
	start = faults_now(RUSAGE_THREAD);
	write_pages(slice->base, slice->pages);
	slice->made = faults_since(RUSAGE_THREAD, start);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = 1, pages, first = 0;
	const struct opt opts[] = { { "threads", OPT_NUMBER, &threads }, { 0 } };
	struct faults made = { 0 }, total;
	struct slice *slices;
	const char *word;
	char *base;

	parse_args(argc, argv, "N [--threads T]", opts, &word, 1, 1);
	pages = parse_number(word);
	if (!threads || !(slices = calloc(threads, sizeof(*slices))))
		die("cannot have %ld threads", threads);
	base = map_pages(pages);
	wait_for_go();

	for (long i = 0; i < threads; i++) {
		slices[i].base = base + first * PAGE_BYTES;
		slices[i].pages = pages * (i + 1) / threads - first;
		first += slices[i].pages;
	}
	for (long i = 1; i < threads; i++)
		slices[i].thread = start_thread(touch_slice, &slices[i]);
	touch_slice(&slices[0]);
	for (long i = 0; i < threads; i++) {
		if (i)
			pthread_join(slices[i].thread, NULL);
		made.minor += slices[i].made.minor;
		made.major += slices[i].made.major;
	}

	total = faults_now(RUSAGE_SELF);
	truth_open();
	truth_number("pages", pages);
	truth_number("threads", threads);
	truth_number("minflt", total.minor);
	truth_number("majflt", total.major);
	truth_faults(made);
	truth_close();
	return 0;
}
