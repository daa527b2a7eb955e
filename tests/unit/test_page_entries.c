// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests what is read from the entries of /proc/PID/pagemap on kernels without PAGEMAP_SCAN. The
 * entries are in a file of the test: Documentation/admin-guide/mm/pagemap.rst describes them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "resident/page_ranges.h"
#include "tap.h"

#define PRESENT (1ull << 63)
#define SWAPPED (1ull << 62)
#define FILE_OF (1ull << 61)
#define SOFT	(1ull << 55) /* soft-dirty: says nothing about where the page is */
#define ZERO	77	     /* frame of the zero page */
#define HUGE	512	     /* pages of a huge page */

static uint64_t entry[4 * HUGE];
static struct page_reader reader = {.words = true, .zero_frame = ZERO};

static bool wants_all(const void *ctx, uint64_t page)
{
	return true;
}

static int note(void *ctx, const struct page_range *r)
{
	buf_printf(ctx, "%u-%u", (unsigned)r->from, (unsigned)r->to);
	for (int i = 0; i < 4; i++)
		if (r->what >> i & 1)
			buf_putc(ctx, "PSHF"[i]);
	buf_putc(ctx, ' ');
	return 0;
}

static void reads(uint64_t from, uint64_t to, const char *want, const char *what)
{
	struct buf got = {};

	if (pwrite(reader.fd, entry, sizeof(entry), 0) != sizeof(entry))
		exit(1);
	is_u64(page_ranges_read(&reader, from, to, wants_all, note, &got), 0, what);
	is_str(got.s ? got.s : "", want, what);
	buf_free(&got);
}

static void test_kinds(void)
{
	memset(entry, 0, sizeof(entry));
	reads(0, 8, "", "no page");
	entry[0] = PRESENT | 5;
	entry[1] = PRESENT | SOFT | 9;
	entry[2] = PRESENT | FILE_OF | 6;
	entry[3] = SWAPPED | 0x1234;
	entry[4] = SWAPPED | FILE_OF | 3;
	entry[5] = PRESENT | ZERO;
	entry[6] = PRESENT | (ZERO + 1);
	entry[7] = FILE_OF;
	entry[9] = PRESENT | 1;
	reads(0, 16, "0-2P 2-3PF 3-4S 4-5SF 6-7P 9-10P ", "pages of each kind");
	reads(1, 4, "1-2P 2-3PF 3-4S ", "a part of them");
	reads(6, 7, "6-7P ", "a single page");
	reads(7, 9, "", "pages that are nowhere");
	is_u64(page_frame(&reader, 1), 9, "the frame of a page");
	is_u64(page_frame(&reader, 3), 0, "a page in swap has none");
	is_u64(page_frame(&reader, 8), 0, "nor has a missing one");
	is_u64(page_frame(&reader, 4 * HUGE), 0, "nor has one behind the end");
	reader.zero_frame = ~0ull;
	reads(4, 8, "4-5SF 5-7P ", "if the zero page is not known, it is like others");
	reader.zero_frame = ZERO;
}

/* Fills the second 512 entries with a huge page whose first frame is `first`. */
static void put_huge(uint64_t first)
{
	memset(entry, 0, sizeof(entry));
	for (int i = 0; i < HUGE; i++)
		entry[HUGE + i] = PRESENT | (first + i);
}

static void test_huge_pages(void)
{
	put_huge(3 * HUGE);
	reads(0, 4 * HUGE, "512-1024PH ", "a huge page");
	entry[HUGE - 1] = entry[2 * HUGE] = PRESENT | 4;
	reads(0, 4 * HUGE, "511-512P 512-1024PH 1024-1025P ", "and pages beside it");
	reads(HUGE, 2 * HUGE - 1, "512-1023P ", "a part of it does not show that it is huge");
	put_huge(3 * HUGE + 1);
	reads(0, 4 * HUGE, "512-1024P ", "frames that are not aligned");
	for (int i = 0; i < HUGE; i++)
		entry[HUGE + i] = PRESENT;
	reads(0, 4 * HUGE, "512-1024P ", "frames that the kernel does not show");
	put_huge(3 * HUGE);
	entry[2 * HUGE - 1]++;
	reads(0, 4 * HUGE, "512-1024P ", "the last frame is not in sequence");
	put_huge(3 * HUGE);
	entry[HUGE]--;
	reads(0, 4 * HUGE, "512-1024P ", "nor is the first");
	put_huge(3 * HUGE);
	entry[HUGE + 5] &= ~PRESENT;
	entry[HUGE + 5] |= SWAPPED;
	reads(0, 4 * HUGE, "512-517P 517-518S 518-1024P ", "one page is in swap");
	put_huge(3 * HUGE);
	for (int i = 0; i < HUGE; i++)
		entry[HUGE + i] |= FILE_OF;
	reads(0, 4 * HUGE, "512-1024PHF ", "a huge page of a file");
}

static int count_huge(void *ctx, const struct page_range *r)
{
	size_t *pages = ctx;

	pages[!!(r->what & RANGE_HUGE)] += r->to - r->from;
	return 0;
}

/* Counts pages of the second 512 ones: [0] in small ranges, [1] in huge ones. */
static bool has(size_t small, size_t huge)
{
	size_t pages[2] = {};

	if (pwrite(reader.fd, entry, sizeof(entry), 0) != sizeof(entry))
		exit(1);
	return !page_ranges_read(&reader, HUGE, 2 * HUGE, wants_all, count_huge, pages) &&
	       pages[0] == small && pages[1] == huge;
}

/* Each of the 512 entries counts: none of them may be missing, or have another frame. */
static void test_each_of_a_huge_page(void)
{
	for (int i = 0; i < HUGE; i++) {
		bool good;

		put_huge(3 * HUGE);
		good = has(0, HUGE);
		entry[HUGE + i] &= ~PRESENT;
		good &= has(HUGE - 1, 0);
		entry[HUGE + i] |= SWAPPED;
		good &= has(HUGE, 0);
		put_huge(3 * HUGE);
		entry[HUGE + i]++;
		good &= has(HUGE, 0);
		entry[HUGE + i] -= 2;
		good &= has(HUGE, 0);
		if (!good)
			ok(false, "entry %d", i);
	}
	put_huge(0);
	/* the frame of the zero page is among them */
	ok(has(HUGE - 1, 0), "frame 0 is the start of no huge page");
}

static int refuse(void *ctx, const struct page_range *r)
{
	++*(int *)ctx;
	return -ENOMEM;
}

static void test_errors(void)
{
	struct page_reader closed = {.fd = -1, .words = true};
	int calls = 0;

	put_huge(1);
	entry[0] = PRESENT | 3;
	reads(0, 1, "0-1P ", "two ranges");
	ok(page_ranges_read(&reader, 0, 4 * HUGE, wants_all, refuse, &calls) == -ENOMEM,
	   "the receiver stops the reading");
	is_u64(calls, 1, "at its first range");
	ok(page_ranges_read(&reader, 5 * HUGE, 6 * HUGE, wants_all, note, NULL) == -ESRCH,
	   "the process has other memory by now");
	ok(page_ranges_read(&closed, 0, 1, wants_all, note, NULL) == -EBADF,
	   "an error of the read");
	ok(!page_ranges_read(&closed, 1, 1, wants_all, note, NULL), "of no page, nothing is read");
}

/* A file that is no pagemap has no PAGEMAP_SCAN, as the pagemap of an old kernel. */
static void test_old_kernels(void)
{
	struct buf got = {};

	reader.words = false;
	put_huge(2 * HUGE);
	if (pwrite(reader.fd, entry, sizeof(entry), 0) != sizeof(entry))
		exit(1);
	is_u64(page_ranges_read(&reader, 0, 4 * HUGE, wants_all, note, &got), 0, "an old kernel");
	is_str(got.s, "512-1024PH ", "has the entries");
	ok(reader.words, "and is not asked again");
	buf_free(&got);
}

int main(void)
{
	reader.fd = memfd_create("pagemap", MFD_CLOEXEC);
	if (reader.fd < 0)
		return 1;
	test_kinds();
	test_huge_pages();
	test_each_of_a_huge_page();
	test_errors();
	test_old_kernels();
	return tap_done();
}
