// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests which pages of this process are found in memory, by PAGEMAP_SCAN and by the entries of
 * /proc/PID/pagemap. Pages of several kinds alternate at random.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resident/page_ranges.h"
#include "tap.h"

#define PAGES 1300 /* more than two ranges of 2 MiB */

enum made { UNTOUCHED, ONLY_READ, WRITTEN, NR_MADE };

struct found {
	uint64_t first; /* number of the first page of the test */
	uint32_t what[PAGES];
	unsigned int times[PAGES]; /* how often a page was found */
	size_t ranges, outside;
	bool (*wants)(uint64_t page);
	uint64_t last; /* end of the last range */
	bool disordered;
	int err; /* result of take() */
};

static unsigned char made[PAGES];
static unsigned char *memory;

static uint64_t page_of(const void *at)
{
	return (uintptr_t)at >> PAGE_SHIFT;
}

static int take(void *ctx, const struct page_range *r)
{
	struct found *f = ctx;

	f->ranges++;
	f->disordered |= r->from < f->last || r->to <= r->from;
	f->last = r->to;
	for (uint64_t page = r->from; page < r->to; page++) {
		if (page < f->first || page >= f->first + PAGES) {
			f->outside++;
			continue;
		}
		f->what[page - f->first] = r->what;
		f->times[page - f->first]++;
	}
	return f->err;
}

static bool wants(const void *ctx, uint64_t page)
{
	const struct found *f = ctx;

	return !f->wants || f->wants(page - f->first);
}

static bool every_third(uint64_t page)
{
	return page % 3 == 0;
}

/* Makes pages of all kinds. Those of a file have its first pages; others are anonymous. */
static void make(int fd)
{
	unsigned int seed = 1;

	memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
		      fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		abort();
	madvise(memory, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	madvise(memory, PAGES * PAGE_BYTES, MADV_RANDOM);
	for (size_t i = 0; i < PAGES; i++) {
		volatile unsigned char *at = memory + i * PAGE_BYTES;

		made[i] = i / 100 % 2 ? UNTOUCHED : rand_r(&seed) % NR_MADE;
		if (made[i] == ONLY_READ)
			(void)*at;
		if (made[i] == WRITTEN)
			*at = 1;
	}
}

/* Reads the pages, and checks those that are wanted. */
static void check(struct page_reader *r, bool (*wanted)(uint64_t page), uint32_t file,
		  const char *name)
{
	struct found f = {.first = page_of(memory), .wants = wanted};
	size_t bad = 0, twice = 0;

	ok(!page_ranges_read(r, f.first, f.first + PAGES, wants, take, &f), "%s", name);
	for (size_t i = 0; i < PAGES; i++) {
		bool present = made[i] == WRITTEN || (made[i] == ONLY_READ && file);

		twice += f.times[i] > 1;
		if (wanted && !wanted(i) && !f.times[i])
			continue;
		bad += f.what[i] != (present ? RANGE_PRESENT | file : 0);
	}
	is_u64(bad, 0, "pages that are wrong");
	is_u64(twice, 0, "pages that were found twice");
	is_u64(f.outside, 0, "pages beyond the range");
	ok(!f.disordered && f.ranges > 10, "%zu ranges in order", f.ranges);
}

/* Returns the frame of the zero page, or ~0 if the kernel does not tell. */
static uint64_t zero_frame(struct page_reader *r)
{
	for (size_t i = 0; i < PAGES; i++)
		if (made[i] == ONLY_READ)
			return page_frame(r, page_of(memory) + i) ?: ~0ULL;
	return ~0ULL;
}

static void test_kinds(int file, const char *name)
{
	struct page_reader r = {.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};

	make(file);
	if (file < 0)
		r.zero_frame = zero_frame(&r);
	else
		r.zero_frame = ~0ULL;
	printf("# %s\n", name);
	check(&r, NULL, file < 0 ? 0 : RANGE_FILE, "all pages");
	if (!r.words)
		check(&r, every_third, file < 0 ? 0 : RANGE_FILE, "some pages");
	/* without the right to see frames, the zero page looks like others */
	if (file < 0 && r.zero_frame == ~0ULL)
		for (size_t i = 0; i < PAGES; i++)
			made[i] = made[i] == ONLY_READ ? WRITTEN : made[i];
	r.words = true;
	check(&r, NULL, file < 0 ? 0 : RANGE_FILE, "the entries of all pages");
	munmap(memory, PAGES * PAGE_BYTES);
	close(r.fd);
}

static void test_errors(void)
{
	struct page_reader r = {.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
				.zero_frame = ~0ULL};
	struct found f;

	make(-1);
	for (int words = 0; words < 2; words++) {
		f = (struct found){.first = page_of(memory), .err = -EIO};
		r.words = words;
		ok(page_ranges_read(&r, f.first, f.first + PAGES, wants, take, &f) == -EIO,
		   "an error of the receiver");
		is_u64(f.ranges, 1, "ends the reading");
		f = (struct found){.first = page_of(memory)};
		is_u64(page_ranges_read(&r, f.first, f.first, wants, take, &f), 0, "no page");
		is_u64(f.ranges, 0, "has no range");
	}
	close(r.fd);
	f = (struct found){.first = page_of(memory)};
	ok(page_ranges_read(&r, f.first, f.first + PAGES, wants, take, &f) == -EBADF,
	   "a file that cannot be read");
	is_u64(page_frame(&r, f.first), 0, "no frame is known");
	munmap(memory, PAGES * PAGE_BYTES);
}

int main(void)
{
	int file = memfd_create("pages", MFD_CLOEXEC);

	if (file < 0 || ftruncate(file, PAGES * PAGE_BYTES))
		abort();
	test_kinds(-1, "anonymous memory");
	test_kinds(file, "shared memory");
	test_errors();
	return tap_done();
}
