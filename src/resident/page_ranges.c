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

#define PAGES_OF_HUGE 512
/*
 * A call looks at most at this many pages for the next one that is in memory: the kernel holds
 * mmap_lock for less than 1 ms, also if all page tables are there and empty.
 */
#define PAGES_A_CALL (512 * PAGES_OF_HUGE)

static uint32_t what_of(uint64_t categories)
{
	if (categories & CATEGORY_ZERO)
		return 0;
	return (categories & CATEGORY_PRESENT ? RANGE_PRESENT : 0) |
	       (categories & CATEGORY_SWAPPED ? RANGE_SWAPPED : 0) |
	       (categories & CATEGORY_HUGE ? RANGE_HUGE : 0) |
	       (categories & CATEGORY_FILE ? RANGE_FILE : 0);
}

/*
 * Finds the first page from `from` to `to` - 1 that is in memory or in swap. Returns 1, 0 if there
 * is none, or -errno.
 */
static int find_page(struct page_reader *r, uint64_t from, uint64_t to,
		     struct page_range *ret)
{
	struct scan_region region;
	struct scan_arg arg = {
		.size = sizeof(arg),
		.start = from << PAGE_SHIFT,
		.end = to << PAGE_SHIFT,
		.vec = (uint64_t)(uintptr_t)&region,
		.vec_len = 1,
		.max_pages = 1,
		.category_anyof_mask = CATEGORY_PRESENT | CATEGORY_SWAPPED,
		.return_mask = CATEGORY_FILE | CATEGORY_PRESENT | CATEGORY_SWAPPED | CATEGORY_ZERO |
			       CATEGORY_HUGE,
	};
	int n;

	lock_pause_if_due(&r->pause);
	n = ioctl(r->fd, PAGEMAP_SCAN, &arg);
	if (n <= 0)
		return n ? -errno : 0;
	*ret = (struct page_range){.from = region.start >> PAGE_SHIFT,
				   .to = region.end >> PAGE_SHIFT,
				   .what = what_of(region.categories)};
	return 1;
}

/* Takes the wanted pages from `from` to `to` - 1; `first` is the first page that is not a hole. */
static int scan_pages(struct page_reader *r, const struct page_range *first, uint64_t to,
		      wanted_fn *wanted, range_fn *take, void *ctx)
{
	struct page_range one = *first;
	int n = 1, err = 0;

	for (uint64_t page = first->from; page < to && !err; page++) {
		if (!wanted(ctx, page))
			continue;
		if (page > first->from)
			n = find_page(r, page, page + 1, &one);
		err = n < 0 ? n : n && one.what ? take(ctx, &one) : 0;
	}
	return err;
}

/*
 * Reads the pages up to the end of the range of 2 MiB in which the next page is, or up to
 * PAGES_A_CALL pages if there are none. *ret_next: the page at which the next call begins.
 */
static int scan(struct page_reader *r, uint64_t from, uint64_t to, wanted_fn *wanted,
		range_fn *take, void *ctx, uint64_t *ret_next)
{
	struct page_range first;
	int n;

	if (to - from > PAGES_A_CALL)
		to = from + PAGES_A_CALL;
	*ret_next = to;
	n = find_page(r, from, to, &first);
	if (n <= 0)
		return n;
	if (*ret_next > (first.from / PAGES_OF_HUGE + 1) * PAGES_OF_HUGE)
		*ret_next = (first.from / PAGES_OF_HUGE + 1) * PAGES_OF_HUGE;
	if (!(first.what & RANGE_HUGE))
		return scan_pages(r, &first, *ret_next, wanted, take, ctx);
	first.to = *ret_next;
	return take(ctx, &first);
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
static int read_words(struct page_reader *r, uint64_t from, uint64_t to, range_fn *take,
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
	lock_pause_if_due(&r->pause);
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

int page_ranges_read(struct page_reader *r, uint64_t from, uint64_t to, wanted_fn *wanted,
		     range_fn *take, void *ctx)
{
	uint64_t next;
	int err = 0;

	for (; from < to && !err; from = next) {
		err = r->words ? read_words(r, from, to, take, ctx, &next)
			       : scan(r, from, to, wanted, take, ctx, &next);
		if (!r->words && (err == -ENOTTY || err == -EINVAL)) {
			r->words = true;
			next = from;
			err = 0;
		}
	}
	return err;
}

uint64_t page_frame(struct page_reader *r, uint64_t page)
{
	uint64_t entry = 0;

	lock_pause_if_due(&r->pause);
	if (pread(r->fd, &entry, sizeof(entry), page * sizeof(entry)) != sizeof(entry))
		return 0;
	return entry & ENTRY_PRESENT ? entry & ENTRY_FRAME : 0;
}
