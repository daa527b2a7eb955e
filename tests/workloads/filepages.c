/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Touches every page of a mapped file whose pages were removed from the page cache before. */
#include "common.h"

static void write_file(int fd, long pages)
{
	static const char page[PAGE_BYTES] = { 1 };

	for (long i = 0; i < pages; i++)
		if (write(fd, page, PAGE_BYTES) != PAGE_BYTES)
			die("write page %ld", i);
	if (fsync(fd))
		die("fsync");
	errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (errno)
		die("posix_fadvise");
}

static long resident_pages(void *base, long pages)
{
	unsigned char *state = malloc(pages);
	long resident = 0;

	if (!state || mincore(base, pages * PAGE_BYTES, state))
		die("mincore");
	for (long i = 0; i < pages; i++)
		resident += state[i] & 1;
	free(state);
	return resident;
}

int main(int argc, char **argv)
{
	struct faults start, made;
	char path[PATH_MAX];
	const char *words[2];
	long pages, resident;
	char *base;
	int fd;

	parse_args(argc, argv, "N DIR", NULL, words, 2, 2);
	pages = parse_number(words[0]);
	snprintf(path, sizeof(path), "%s/filepages.%d", words[1], getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die("create %s", path);
	/* Unlinks the file at once, so that no file remains if the program is killed. */
	unlink(path);
	write_file(fd, pages);
	base = mmap(NULL, pages * PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED || madvise(base, pages * PAGE_BYTES, MADV_RANDOM))
		die("map %ld pages of %s", pages, path);
	resident = resident_pages(base, pages);
	wait_for_go();

	faults_now(RUSAGE_THREAD);
	start = faults_now(RUSAGE_THREAD);
	read_pages(base, pages);
	made = faults_since(RUSAGE_THREAD, start);

	truth_open();
	truth_number("pages", pages);
	truth_number("resident_before", resident);
	truth_faults(made);
	truth_close();
	return 0;
}
