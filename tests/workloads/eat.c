/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocates MIB MiB of one kind of memory at --rate MiB per second, and keeps it. With --rounds,
 * the program reads all of this memory repeatedly. Kind "promised" maps memory without touching it.
 * Kinds "shared" and "file" map a file in the directory --in.
 */
#include "common.h"


#define MIB	     (1L << 20)
/* pages between two reads: more than fault-around maps, less than readahead reads */
#define AROUND_PAGES 24

static struct {
	long rate, rounds, children;
	bool random, cut, pairs;
} how;

static unsigned long next_random(unsigned long *state)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return *state >> 33;
}

/* Writes another value to each page, so that pages can neither be compressed nor merged. */
static void fill(char *base, long mib)
{
	long long start = now_ns();

	for (long i = 0; i < mib; i++) {
		for (long at = 0; at < MIB; at += PAGE_BYTES)
			*(volatile long *)(base + i * MIB + at) = i * MIB + at;
		keep_rate(start, i + 1, how.rate);
	}
}

static void go_over(const char *base, long pages)
{
	unsigned long state = getpid();

	for (long round = 0; round < how.rounds; round++)
		for (long i = 0; i < pages; i++) {
			long page = how.random ? (long)(next_random(&state) % pages) : i;

			(void)*(const volatile char *)(base + page * PAGE_BYTES);
			/*
			 * The page AROUND_PAGES further on is in the page cache but not mapped, so
			 * that reading it makes the kernel read further ahead.
			 */
			page = page + AROUND_PAGES < pages ? page + AROUND_PAGES : page;
			if (how.pairs)
				(void)*(const volatile char *)(base + page * PAGE_BYTES);
		}
}

static char *map_file(const char *directory, long mib, char *path, size_t size)
{
	char *base;
	int fd;

	snprintf(path, size, "%s/eat.%d", directory, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, mib * MIB))
		die("%s", path);
	base = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	unlink(path); /* the file exists until this process exits */
	if (base == MAP_FAILED)
		die("mmap %s", path);
	if (how.cut && ftruncate(fd, 0))
		die("ftruncate");
	return base;
}

/* Writes a file, which may be larger than memory, and maps it for reading. */
static char *map_written(const char *directory, long mib)
{
	char path[PATH_MAX];
	static char block[MIB];
	char *base;
	int fd;

	snprintf(path, sizeof(path), "%s/eat.%d", directory, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die("%s", path);
	unlink(path);
	memset(block, 1, sizeof(block));
	for (long i = 0; i < mib; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write %s", path);
	if (fsync(fd))
		die("fsync");
	base = mmap(NULL, mib * MIB, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		die("mmap %s", path);
	if (!how.pairs)
		madvise(base, mib * MIB, MADV_RANDOM);
	return base;
}

static char *take(const char *kind, const char *directory, long mib)
{
	char path[PATH_MAX], *base;

	if (!strcmp(kind, "anon") || !strcmp(kind, "promised")) {
		base = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (base == MAP_FAILED)
			die("mmap %ld MiB", mib);
		madvise(base, mib * MIB, MADV_NOHUGEPAGE);
		if (*kind == 'a')
			fill(base, mib);
	} else if (!strcmp(kind, "shared")) {
		base = map_file(directory, mib, path, sizeof(path));
		fill(base, mib);
	} else {
		base = map_written(directory, mib);
	}
	return base;
}

int main(int argc, char **argv)
{
	const char *directory = "/dev/shm", *words[2];
	const struct opt opts[] = {{"rate", OPT_NUMBER, &how.rate},
				   {"rounds", OPT_NUMBER, &how.rounds},
				   {"children", OPT_NUMBER, &how.children},
				   {"random", OPT_FLAG, &how.random},
				   {"cut", OPT_FLAG, &how.cut},
				   {"pairs", OPT_FLAG, &how.pairs},
				   {"in", OPT_TEXT, &directory},
				   {0}};
	char *base;
	long mib;

	parse_args(argc, argv,
		   "anon|promised|shared|file MIB [--rate MIB] [--rounds N] [--children N] "
		   "[--random] [--cut] [--pairs] [--in DIRECTORY]",
		   opts, words, 2, 2);
	mib = parse_number(words[1]);
	wait_for_go();
	/* Each child allocates the same amount and keeps it until this process exits. */
	for (long i = 0; i < how.children; i++)
		if (!fork_or_die()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			base = take(words[0], directory, mib);
			go_over(base, mib * MIB / PAGE_BYTES);
			for (;;)
				pause();
		}
	base = take(words[0], directory, mib);
	go_over(base, mib * MIB / PAGE_BYTES);
	truth_open();
	truth_number("mib", mib);
	truth_close();
	return 0;
}
