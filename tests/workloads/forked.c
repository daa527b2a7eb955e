/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forks workers that write or read the memory of their parent: private memory, or memory that they
 * share. Each worker writes the kernel's count of its private dirty memory, before and after, to
 * the file DIR/NUMBER.
 */
#include "common.h"

#define WORKERS 4
#define STAY_S	3

/* Returns the private dirty memory of this process in KiB. */
static long private_dirty(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	long kib, sum = 0;

	if (!f)
		die("smaps_rollup");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			sum += kib;
	fclose(f);
	return sum;
}

static void use(char *area, long bytes, bool writes)
{
	for (long i = 0; i < bytes; i += PAGE_BYTES) {
		if (writes)
			area[i]++;
		else
			(void)*(const volatile char *)(area + i);
	}
}

static void work(const char *directory, int number, char *area, long bytes, bool writes)
{
	long before = private_dirty();
	char path[512];
	FILE *f;

	use(area, bytes, writes);
	snprintf(path, sizeof(path), "%s/%d", directory, number);
	f = fopen(path, "we");
	if (!f || fprintf(f, "[%d, %ld, %ld]", getpid(), before, private_dirty()) < 0 || fclose(f))
		die("%s", path);
	sleep(STAY_S);
	_exit(0);
}

int main(int argc, char **argv)
{
	static const struct opt opts[] = { { 0 } };
	const char *words[3];
	bool shared;
	long bytes;
	char *area;

	parse_args(argc, argv, "written|read|shared MIB DIR", opts, words, 3, 3);
	shared = !strcmp(words[0], "shared");
	bytes = parse_number(words[1]) << 20;
	area = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
	if (area == MAP_FAILED)
		die("mmap");
	memset(area, 1, bytes);
	for (int i = 0; i < WORKERS; i++)
		if (!fork_or_die())
			work(words[2], i, area, bytes, strcmp(words[0], "read"));
	for (int i = 0; i < WORKERS; i++)
		wait(NULL);
	return 0;
}
