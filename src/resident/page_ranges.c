// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#define _GNU_SOURCE
#include "resident/page_ranges.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Entries of /proc/PID/pagemap: Documentation/admin-guide/mm/pagemap.rst. */
#define ENTRY_FRAME   ((1ULL << 55) - 1)
#define ENTRY_FILE    (1ULL << 61)
#define ENTRY_SWAPPED (1ULL << 62)
#define ENTRY_PRESENT (1ULL << 63)

/* PAGEMAP_SCAN of include/uapi/linux/fs.h, since 6.7. */
struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
struct scan_region {
	uint64_t start, end, categories;
};
#define PAGEMAP_SCAN	 _IOWR('f', 16, struct scan_arg)
#define CATEGORY_FILE	 (1 << 2)
#define CATEGORY_PRESENT (1 << 3)
#define CATEGORY_SWAPPED (1 << 4)
#define CATEGORY_ZERO	 (1 << 5)
#define CATEGORY_HUGE	 (1 << 6)

#define REGIONS	      256
#define PAGES_A_CALL  1024 /* maximum pages found: the kernel holds mmap_lock for about 0.1 ms */
#define PAGES_OF_HUGE 512

static uint32_t what_of(uint64_t categories)
{
	if (categories & CATEGORY_ZERO)
		return 0;
	return (categories & CATEGORY_PRESENT ? RANGE_PRESENT : 0) |
	       (categories & CATEGORY_SWAPPED ? RANGE_SWAPPED : 0) |
	       (categories & CATEGORY_HUGE ? RANGE_HUGE : 0) |
	       (categories & CATEGORY_FILE ? RANGE_FILE : 0);
}

/* Scans pages with one call. *ret_next: the page at which the next call begins. */
static int scan(const struct page_reader *r, uint64_t from, uint64_t to, range_fn *take, void *ctx,
		uint64_t *ret_next)
{
	struct scan_region region[REGIONS];
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = from << PAGE_SHIFT,
		.end = to << PAGE_SHIFT,
		.vec = (uint64_t)(uintptr_t)region,
		.vec_len = REGIONS,
		.max_pages = PAGES_A_CALL,
		.category_anyof_mask = CATEGORY_PRESENT | CATEGORY_SWAPPED,
		.return_mask = CATEGORY_FILE | CATEGORY_PRESENT | CATEGORY_SWAPPED | CATEGORY_ZERO |
			       CATEGORY_HUGE,
	};
	int n = ioctl(r->fd, PAGEMAP_SCAN, &arg), err = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n && !err; i++) {
		struct page_range one = {region[i].start >> PAGE_SHIFT, region[i].end >> PAGE_SHIFT,
					 what_of(region[i].categories)};

		if (one.what)
			err = take(ctx, &one);
	}
	*ret_next = arg.walk_end >> PAGE_SHIFT;
	if (*ret_next <= from)
		*ret_next = to;
	return err;
}

static uint32_t what_of_entry(const struct page_reader *r, uint64_t entry)
{
	uint32_t file = entry & ENTRY_FILE ? RANGE_FILE : 0;

	if (entry & ENTRY_PRESENT)
		return (entry & ENTRY_FRAME) == r->zero_frame ? 0 : RANGE_PRESENT | file;
	return entry & ENTRY_SWAPPED ? RANGE_SWAPPED | file : 0;
}

/* Returns whether 512 entries are one huge page: frames in sequence, from an aligned one on. */
static bool is_huge(const uint64_t *entry)
{
	uint64_t first = entry[0] & ENTRY_FRAME;

	if (!first || first % PAGES_OF_HUGE)
		return false;
	for (int i = 0; i < PAGES_OF_HUGE; i++)
		if (!(entry[i] & ENTRY_PRESENT) || (entry[i] & ENTRY_FRAME) != first + i)
			return false;
	return true;
}

/* Reads the entries of up to 512 pages within one range of 2 MiB. */
static int read_words(const struct page_reader *r, uint64_t from, uint64_t to, range_fn *take,
		      void *ctx, uint64_t *ret_next)
{
	uint64_t entry[PAGES_OF_HUGE], end = (from / PAGES_OF_HUGE + 1) * PAGES_OF_HUGE;
	struct page_range one = {};
	uint32_t huge = 0;
	ssize_t n;
	int err = 0;

	if (end > to)
		end = to;
	*ret_next = end;
	n = pread(r->fd, entry, (end - from) * sizeof(entry[0]), from * sizeof(entry[0]));
	if (n < 0)
		return -errno;
	if (!n)
		return -ESRCH; /* the process has other memory since an exec */
	n /= sizeof(entry[0]);
	if (n == PAGES_OF_HUGE && is_huge(entry))
		huge = RANGE_HUGE;
	for (ssize_t i = 0; i < n && !err; i++) {
		uint32_t what = what_of_entry(r, entry[i]);

		what |= what ? huge : 0;
		if (what != one.what && one.what)
			err = take(ctx, &one);
		if (what != one.what)
			one = (struct page_range){.from = from + i, .what = what};
		one.to = from + i + 1;
	}
	return err ?: one.what ? take(ctx, &one) : 0;
}

int page_ranges_read(struct page_reader *r, uint64_t from, uint64_t to, range_fn *take, void *ctx)
{
	uint64_t next;
	int err = 0;

	for (; from < to && !err; from = next) {
		err = r->words ? read_words(r, from, to, take, ctx, &next)
			       : scan(r, from, to, take, ctx, &next);
		if (!r->words && (err == -ENOTTY || err == -EINVAL)) {
			r->words = true;
			next = from;
			err = 0;
		}
	}
	return err;
}

uint64_t page_frame(const struct page_reader *r, uint64_t page)
{
	uint64_t entry = 0;

	if (pread(r->fd, &entry, sizeof(entry), page * sizeof(entry)) != sizeof(entry))
		return 0;
	return entry & ENTRY_PRESENT ? entry & ENTRY_FRAME : 0;
}
