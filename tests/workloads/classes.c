/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Causes a known number of page faults of each class (anonymous, zero page, file, swap, …). */
#include "common.h"

#include <alloca.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#define HUGE_BYTES (2L << 20)
#define AREAS	   4

/* The buffer is static, so that reads of /proc cause no page fault while faults are counted. */
static char text[65536];

static long number_behind(const char *at, const char *key)
{
	const char *found = strstr(at, key);

	return found ? strtol(found + strlen(key), NULL, 0) : 0;
}

static void read_text(const char *path)
{
	size_t have = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("open %s", path);
	do {
		got = read(fd, text + have, sizeof(text) - 1 - have);
		have += got > 0 ? got : 0;
	} while (got > 0);
	text[have] = 0;
	close(fd);
}

/* Returns the start address of the [stack] mapping. The address falls as the stack grows. */
static unsigned long stack_from(void)
{
	char *at, *line;

	read_text("/proc/self/maps");
	at = strstr(text, "[stack]");
	if (!at)
		die("no stack in /proc/self/maps");
	for (line = at; line > text && line[-1] != '\n'; line--)
		;
	return strtoul(line, NULL, 16);
}

static __attribute__((noinline)) void grow_stack(long pages)
{
	volatile char *bottom = alloca(pages * PAGE_BYTES + 1);

	for (long i = pages - 1; i >= 0; i--)
		bottom[i * PAGE_BYTES] = 1;
}

static void *map(size_t bytes, int flags, int fd)
{
	void *area = mmap(NULL, bytes ?: PAGE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (area == MAP_FAILED)
		die("mmap of %zu bytes", bytes);
	return area;
}

/* Maps a file of one page `count` times, so that fault-around cannot map other pages. */
static char **map_file(const char *dir, long count, int flags)
{
	char **page = calloc(count + 1, sizeof(*page)), path[PATH_MAX], zeros[PAGE_BYTES] = {0};
	int fd;

	snprintf(path, sizeof(path), "%s/classes.%d", dir, getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, zeros, PAGE_BYTES) != PAGE_BYTES || unlink(path))
		die("a file in %s", dir);
	for (long i = 0; i < count; i++)
		page[i] = map(PAGE_BYTES, flags, fd);
	close(fd);
	return page;
}

/* Maps `count` huge pages at an address that is aligned to huge pages. */
static char *map_huge(long count)
{
	char *area = map((count + 1) * HUGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	area += -(uintptr_t)area & (HUGE_BYTES - 1);
	madvise(area, count * HUGE_BYTES, MADV_HUGEPAGE);
	return area;
}

/*
 * Returns the number of huge pages that the process has. It may be less than requested if the
 * kernel had too few.
 */
static long huge_pages(void)
{
	read_text("/proc/self/smaps_rollup");
	return number_behind(text, "AnonHugePages:") / (HUGE_BYTES / 1024);
}

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21 /* since 5.4, include/uapi/asm-generic/mman-common.h */
#endif

/* Maps and writes pages, then moves them to swap. They stay in memory if there is no swap. */
static char *map_swapped(long pages)
{
	char *area = map(pages * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(area, pages * PAGE_BYTES, MADV_NOHUGEPAGE);
	write_pages(area, pages);
	if (pages && madvise(area, pages * PAGE_BYTES, MADV_PAGEOUT))
		die("madvise MADV_PAGEOUT");
	return area;
}

/* Returns whether a directory is in tmpfs. Pages of its files count as shared memory. */
static bool is_tmpfs(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == TMPFS_MAGIC;
}

static void touch_all(char **page, long count, bool write)
{
	for (long i = 0; i < count; i++) {
		if (write)
			*(volatile char *)page[i] = 1;
		else
			(void)*(const volatile char *)page[i];
	}
}

/* Forks. Parent and child both write to all pages, the parent first. */
static pid_t copy_on_write(char *area, long pages)
{
	int go[2];
	pid_t child;
	char byte;

	if (pipe2(go, O_CLOEXEC))
		die("pipe2");
	child = fork_or_die();
	if (!child) {
		close(go[1]);
		if (read(go[0], &byte, 1) < 0)
			_exit(1);
		write_pages(area, pages);
		_exit(0);
	}
	write_pages(area, pages);
	close(go[0]);
	close(go[1]);
	waitpid(child, NULL, 0);
	return child;
}

int main(int argc, char **argv)
{
	long anonymous = 500, zero = 400, cow = 300, file = 200, copied = 150, shared = 100;
	long stack = 90, huge = 0, hugetlb = 0, swapped = 0;
	const struct opt opts[] = {
		{"anonymous", OPT_NUMBER, &anonymous},
		{"zero", OPT_NUMBER, &zero},
		{"cow", OPT_NUMBER, &cow},
		{"file", OPT_NUMBER, &file},
		{"file-copied", OPT_NUMBER, &copied},
		{"shared", OPT_NUMBER, &shared},
		{"stack", OPT_NUMBER, &stack},
		{"huge", OPT_NUMBER, &huge},
		{"hugetlb", OPT_NUMBER, &hugetlb},
		{"swapped", OPT_NUMBER, &swapped},
		{0},
	};
	char *areas[AREAS], **files, **copies, *huge_area, *pool, *out;
	struct faults start, made;
	unsigned long stack_before;
	long huge_before;
	const char *dir = NULL;
	pid_t child = 0;

	parse_args(argc, argv,
		   "DIR [--anonymous N] [--zero N] [--cow N] [--file N] [--file-copied N] "
		   "[--shared N] [--stack N] [--huge N] [--hugetlb N] [--swapped N]",
		   opts, &dir, 1, 1);
	huge_area = huge ? map_huge(huge) : NULL;
	areas[0] = map(anonymous * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	areas[1] = map(zero * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	areas[2] = map(cow * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (int i = 0; i < 3; i++)
		madvise(areas[i], PAGE_BYTES * (i ? i == 1 ? zero : cow : anonymous),
			MADV_NOHUGEPAGE);
	areas[3] = map(shared * PAGE_BYTES, MAP_SHARED | MAP_ANONYMOUS, -1);
	files = map_file(dir, file, MAP_SHARED);
	copies = map_file(dir, copied, MAP_PRIVATE);
	pool = hugetlb ? map(hugetlb * HUGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1)
		       : NULL;
	write_pages(areas[2], cow);
	out = map_swapped(swapped);
	stack_before = stack_from();
	huge_before = huge_pages();
	wait_for_go();

	faults_now(RUSAGE_THREAD);
	start = faults_now(RUSAGE_THREAD);
	write_pages(areas[0], anonymous);
	read_pages(areas[1], zero);
	write_pages(areas[3], shared);
	touch_all(files, file, false);
	touch_all(copies, copied, true);
	grow_stack(stack);
	for (long i = 0; i < huge; i++)
		*(volatile char *)(huge_area + i * HUGE_BYTES) = 1;
	for (long i = 0; i < hugetlb; i++)
		*(volatile char *)(pool + i * HUGE_BYTES) = 1;
	read_pages(out, swapped);
	if (cow)
		child = copy_on_write(areas[2], cow);
	made = faults_since(RUSAGE_THREAD, start);

	stack_before -= stack_from();
	huge_before = huge_pages() - huge_before;
	truth_open();
	truth_number("anonymous", anonymous);
	truth_number("zero", zero);
	truth_number("cow", cow);
	truth_number("file", file);
	truth_number("file_copied", copied);
	truth_number("shared", shared);
	truth_number("stack", stack);
	truth_number("stack_grown", stack_before / PAGE_BYTES);
	truth_number("huge", huge_before);
	truth_number("huge_asked", huge);
	truth_number("hugetlb", hugetlb);
	truth_number("swapped", swapped);
	truth_number("child", child);
	truth_number("tmpfs", is_tmpfs(dir));
	truth_faults(made);
	truth_close();
	return 0;
}
