// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests who holds resident memory: estimates, page ranges of this process, and the model's lists.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "model/resident.h"
#include "probe/host_facts.h"
#include "resident/held.h"
#include "resident/known_frames.h"
#include "resident/page_ranges.h"
#include "resident/unit_set.h"
#include "tap.h"

#define PAGES 64

static struct resident_record row[8];
static struct resident_sum_record total;
static size_t rows;

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (h->kind == RECORD_RESIDENT)
		row[rows++] = *(const struct resident_record *)h;
	else
		total = *(const struct resident_sum_record *)h;
	return 0;
}

static void add(struct held *all, __s32 stack, __u32 group, int pages, bool swapped)
{
	const struct row_key key = {.stack = stack, .before = -1, .group = group};

	for (int i = 0; i < pages; i++)
		ok(!held_add_page(all, &key, swapped), "a page is added");
}

/* On a busy machine, a call may be late, and then pauses too. */
static void test_pauses(void)
{
	struct lock_pause p = {};
	uint64_t begun = 0;
	bool goes_on = false;

	lock_pause_if_due(&p);
	ok(p.since_ns > 0, "the first call only notes the time");
	for (int i = 0; i < 1000 && !goes_on; i++) {
		p.since_ns = begun = host_monotonic_ns();
		lock_pause_if_due(&p);
		goes_on = p.since_ns == begun;
	}
	ok(goes_on, "a call right after it does not pause");
	p.since_ns = 1;
	lock_pause_if_due(&p);
	ok(p.since_ns > begun, "a pause begins a new series of calls");
}

static void test_estimates(void)
{
	const struct row_key huge = {.stack = 9, .before = -1};
	const struct sink sink = {.take = take};
	struct resident_sum_record sum = {.each = 64,
					  .anon_bytes = (40 << 20) + (2 << 20),
					  .file_bytes = 10 << 20,
					  .swap_bytes = 4 << 20};
	struct held all;

	rows = 0;
	ok(!held_open(&all), "a table is made");
	add(&all, 1, GROUP_ANON, 30, false);
	add(&all, 2, GROUP_ANON, 10, false);
	add(&all, 2, GROUP_ANON, 5, true);
	add(&all, 3, GROUP_FILE, 8, false);
	ok(!held_add_huge(&all, &huge, 2 << 20), "a huge page is added");
	ok(!held_send(&all, &sum, &sink), "the rows are sent");
	is_u64(rows, 4, "a row for each stack");
	is_u64(total.rows, 4, "and their number");
	is_u64(row[0].stack, 1, "the largest row first");
	is_u64(row[0].bytes, 30 << 20, "its share of the kernel's total without huge pages");
	ok(row[0].low < 26 << 20 && row[0].low > 20 << 20, "its lower bound");
	ok(row[0].high > 33 << 20 && row[0].high < 37 << 20, "its upper bound");
	is_u64(row[1].bytes, 10 << 20, "the other row has the rest");
	is_u64(row[1].swapped_bytes, 4 << 20, "and all that is in swap");
	is_u64(row[1].pages, 15, "from this many pages");
	is_u64(row[2].stack, 3, "the only row of files");
	ok(row[2].bytes == 10 << 20 && row[2].high == row[2].bytes, "has all of them");
	is_u64(row[3].stack, 9, "huge pages");
	ok(row[3].bytes == 2 << 20 && row[3].low == row[3].bytes, "are all counted");
	ok(row[3].high > 5 << 20 && row[3].high < 6 << 20,
	   "but their stack may hold small pages, of which none was chosen: %llu",
	   (unsigned long long)row[3].high);
	held_free(&all);
}

static void test_huge_only(void)
{
	const struct row_key huge = {.stack = 9, .before = -1};
	const struct sink sink = {.take = take};
	struct resident_sum_record sum = {.each = 64, .anon_bytes = 2 << 20};
	struct held all;

	rows = 0;
	ok(!held_open(&all) && !held_add_huge(&all, &huge, 2 << 20), "a huge page is added");
	ok(!held_send(&all, &sum, &sink) && rows == 1, "one row is sent");
	ok(row[0].bytes == 2 << 20 && row[0].low == row[0].bytes && row[0].high == row[0].bytes,
	   "without small pages, it is exact");
	held_free(&all);
}

/* The rows add up to the kernel's totals, also for a kind of which no page was chosen. */
static void test_not_chosen(void)
{
	const struct sink sink = {.take = take};
	struct resident_sum_record sum = {
		.each = 64, .anon_bytes = 40 << 20, .file_bytes = 10 << 20, .shmem_bytes = 1 << 20};
	struct held all;

	rows = 0;
	ok(!held_open(&all), "a table is made");
	add(&all, 1, GROUP_ANON, 30, false);
	add(&all, 3, GROUP_FILE, 8, false);
	ok(!held_send(&all, &sum, &sink), "the rows are sent");
	is_u64(rows, 3, "a row also for shared memory");
	is_u64(row[2].by, RESIDENT_NOT_CHOSEN, "which says that no page was chosen");
	is_u64(row[2].bytes, 1 << 20, "of the kernel's total");
	is_u64(row[2].huge_bytes, 0, "not in huge pages");
	is_u64(row[2].kind, HOLDING_SHARED_MEMORY, "by its kind");
	held_free(&all);
}

static void test_unit_set(void)
{
	struct unit_set s = {}, other = {};

	for (uint64_t i = 0; i < 1000; i++)
		ok(!unit_set_add(&s, i / 2 * 3), "a number is added");
	is_u64(s.n, 500, "an equal one only once");
	ok(unit_set_has(&s, 0) && unit_set_has(&s, 1497), "the first and the last are found");
	ok(!unit_set_has(&s, 1) && !unit_set_has(&s, 1500), "others are not");
	unit_set_replace(&other, &s);
	ok(!s.n && other.n == 500 && unit_set_has(&other, 3), "a set moves to another");
	unit_set_free(&other);
}

static void test_known_frames(void)
{
	struct known_frames k = {}, last = {};
	const struct page_range *found;

	for (uint64_t i = 1; i <= 1000; i++)
		ok(!known_frames_add(&k, &(struct page_range){.from = i * 3,
							      .to = i * 3 + 1,
							      .what = i % 2 ? RANGE_FILE : 0,
							      .frame = i * 7}),
		   "a page is added");
	known_frames_replace(&last, &k);
	ok(!k.n && last.n == 1000, "the pages move");
	found = known_frames_find(&last, 3, 7);
	ok(found && found->what == RANGE_FILE, "the first page is found");
	ok(!known_frames_find(&last, 4, 7), "a page that was not added is not");
	ok(!known_frames_find(&last, 6, 7), "nor one that has another frame");
	found = known_frames_find(&last, 3000, 7000);
	ok(found && !found->what, "the last page is found");
	ok(!known_frames_find(&last, 3003, 7007), "no page is behind it");
	known_frames_free(&last);
}

struct found {
	uint64_t from;
	int present[PAGES], file;
};

static int note(void *ctx, const struct page_range *r)
{
	struct found *f = ctx;

	for (uint64_t page = r->from; page < r->to; page++)
		f->present[page - f->from] += !!(r->what & RANGE_PRESENT);
	f->file += !!(r->what & RANGE_FILE);
	return 0;
}

static bool wants_all(const void *ctx, uint64_t page)
{
	(void)ctx;
	(void)page;
	return true;
}

/* Touches every third page of a mapping, and compares them with what the kernel says. */
static void test_ranges(bool words)
{
	char *at = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct page_reader r = {.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
				.words = words,
				.zero_frame = ~0ULL};
	struct found f = {.from = (uintptr_t)at >> PAGE_SHIFT};
	bool same = true;

	madvise(at, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i += 3)
		at[i * PAGE_BYTES] = 1;
	ok(r.fd >= 0, "the page map opens");
	ok(!page_ranges_read(&r, f.from, f.from + PAGES, wants_all, note, &f), "it is read");
	for (int i = 0; i < PAGES; i++)
		same = same && f.present[i] == !(i % 3);
	ok(same, "each touched page is in memory once, and no other");
	is_u64(f.file, 0, "none belongs to a file");
	close(r.fd);
	munmap(at, PAGES * PAGE_BYTES);
}

static void give(struct model *m, __u32 nth, __s32 stack, __u64 bytes)
{
	struct resident_record r = RECORD(resident_record, RECORD_RESIDENT, 1);

	r.subject.pid = 7;
	r.nth = nth;
	r.stack = stack;
	r.bytes = bytes;
	r.pages = bytes / 10;
	ok(!model_take(m, &r.h), "a row is taken");
}

static void end(struct model *m, __u32 n, __u64 t_ns)
{
	struct resident_sum_record r = RECORD(resident_sum_record, RECORD_RESIDENT_SUM, t_ns);

	r.subject.pid = 7;
	r.rows = n;
	r.anon_bytes = n * 100;
	ok(!model_take(m, &r.h), "the sum is taken");
}

static void test_lists(void)
{
	const struct process_key id = {.pid = 7};
	const struct resident_of *of;
	struct model m;

	model_init(&m);
	ok(!model_resident(&m, &id), "nothing is known at first");
	give(&m, 0, 1, 100);
	ok(!model_resident(&m, &id), "a list without its sum is not shown");
	end(&m, 1, 10);
	give(&m, 0, 1, 150);
	give(&m, 1, 2, 30);
	end(&m, 2, 20);
	of = model_resident(&m, &id);
	ok(of && of->now.n == 2 && of->first.n == 1, "the first and the last list");
	is_u64(resident_growth(&of->first, &of->now, &of->now.row[0]), 50, "a row that grew");
	is_u64(resident_growth(&of->first, &of->now, &of->now.row[1]), 30, "a row that is new");
	give(&m, 5, 1, 1);
	is_u64(m.resident->lost, 1, "a row without those before it is lost");
	end(&m, 0, 30);
	of = model_resident(&m, &id);
	is_u64(resident_shown(of, false)->n, 0, "a process without memory");
	is_u64(resident_shown(of, true)->n, 2, "of an ended one, the largest list is shown");
	model_free(&m);
}

/* Growth is compared with the last reading that is old enough, or with the first. */
static void test_since(void)
{
	const struct process_key id = {.pid = 7};
	const struct resident_of *of;
	struct model m;

	model_init(&m);
	ok(!model_resident_since(&m, 80), "growth of the last 80 ns");
	for (__u64 t_ns = 100; t_ns <= 400; t_ns += 10) {
		give(&m, 0, 1, t_ns);
		end(&m, 1, t_ns);
	}
	of = model_resident(&m, &id);
	is_u64(resident_base(&m, of, &of->now)->sum.h.t_ns, 320, "the reading 80 ns before");
	is_u64(resident_growth(resident_base(&m, of, &of->now), &of->now, &of->now.row[0]), 80,
	       "the growth since");
	is_u64(resident_base(&m, of, &of->first)->sum.h.t_ns, 100, "of the first, itself");
	model_free(&m);
}

/* An estimate changes with the kernel's totals, also if no page came or went. */
static void test_same_pages(void)
{
	struct resident_record was = {.pages = 64, .bytes = 1000};
	struct resident_record row = {.pages = 64, .bytes = 900};
	struct resident_list base = {.row = &was, .n = 1, .sum.each = 64};
	struct resident_list list = {.row = &row, .n = 1, .sum.each = 64};

	is_u64(resident_growth(&base, &list, &row), 0, "a row with as many pages has not changed");
	list.sum.each = 128;
	ok(resident_growth(&base, &list, &row) == -100, "unless fewer pages are chosen");
	row.bytes = 1200;
	ok(resident_growth(&base, &list, &row) == 200, "what was touched may grow");
	was.by = row.by = RESIDENT_BEFORE;
	ok(!resident_growth(&base, &list, &row), "what was there before the watch does not");
	base.n = 0;
	ok(!resident_growth(&base, &list, &row), "also if the first reading missed it");
}

#define SPARSE_PAGES (600u << 10) /* more than one call looks at */

static const unsigned int touched[] = {0, 511, 512, 1300, 300000, SPARSE_PAGES - 1};
#define TOUCHED (sizeof(touched) / sizeof(touched[0]))

struct sparse {
	uint64_t from;
	unsigned int found[TOUCHED], all;
};

static bool wants_odd(const void *ctx, uint64_t page)
{
	return (page - ((const struct sparse *)ctx)->from) % 2;
}

static int note_sparse(void *ctx, const struct page_range *r)
{
	struct sparse *s = ctx;

	for (size_t i = 0; i < TOUCHED; i++)
		s->found[i] += r->from <= s->from + touched[i] && s->from + touched[i] < r->to;
	s->all += r->to - r->from;
	return 0;
}

/* A mapping with holes: wanted pages in memory are found once, wherever they are. */
static void test_holes(bool words)
{
	char *at = mmap(NULL, SPARSE_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct page_reader r = {.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
				.words = words,
				.zero_frame = ~0ULL};
	struct sparse s = {.from = (uintptr_t)at >> PAGE_SHIFT};

	madvise(at, SPARSE_PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < TOUCHED; i++)
		at[touched[i] * PAGE_BYTES] = 1;
	ok(!page_ranges_read(&r, s.from, s.from + SPARSE_PAGES, wants_odd, note_sparse, &s),
	   "a sparse mapping is read");
	for (size_t i = 0; i < TOUCHED; i++)
		ok(s.found[i] == 1 || (!(touched[i] % 2) && !s.found[i]),
		   "page %u is found once, if it is wanted", touched[i]);
	ok(s.all == (words ? TOUCHED : 2), "pages that are not in memory are not found");
	close(r.fd);
	munmap(at, SPARSE_PAGES * PAGE_BYTES);
}

static void test_runtime(void)
{
	static const struct {
		__u32 kind;
		const char *file, *runtime;
	} rows[] = {
		{HOLDING_FILE_PRIVATE, "libjvm.so", "Java"},
		{HOLDING_FILE_PRIVATE, "node", "Node.js"},
		{HOLDING_FILE_PRIVATE, "nodes", NULL},
		{HOLDING_SHARED_MEMORY, "node", NULL},
		{HOLDING_ANONYMOUS, "", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct resident_record r[2] = {{.kind = HOLDING_HEAP}, {.kind = rows[i].kind}};
		const struct resident_list l = {.row = r, .n = 2};

		snprintf(r[1].file, sizeof(r[1].file), "%s", rows[i].file);
		is_str(resident_runtime(&l), rows[i].runtime, "runtime of a mapped file");
	}
}

int main(void)
{
	test_pauses();
	test_runtime();
	test_estimates();
	test_huge_only();
	test_not_chosen();
	test_unit_set();
	test_known_frames();
	test_ranges(false);
	test_holes(false);
	test_holes(true);
	test_ranges(true);
	test_lists();
	test_since();
	test_same_pages();
	return tap_done();
}
