// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the rows of resident memory: their number, their order, intervals, and small groups. */
#include <errno.h>
#include <stdlib.h>

#include "resident/held.h"
#include "resident/page_ranges.h"
#include "tap.h"

#define ROWS 5000

static struct resident_record *row; /* ROWS records */
static struct resident_sum_record total;
static size_t rows, fails_at;

static int take(void *ctx, const struct record *h)
{
	(void)ctx;
	if (rows == fails_at)
		return -ENOSPC;
	if (h->kind == RECORD_RESIDENT && rows < ROWS)
		row[rows++] = *(const struct resident_record *)h;
	else
		total = *(const struct resident_sum_record *)h;
	return 0;
}

static const struct sink sink = {.take = take};

static struct row_key key_of(int32_t stack, uint32_t group)
{
	return (struct row_key){.stack = stack, .before = -1, .group = group};
}

static void add(struct held *all, int32_t stack, uint32_t group, int pages, bool swapped)
{
	const struct row_key key = key_of(stack, group);

	for (int i = 0; i < pages; i++)
		if (held_add_page(all, &key, swapped))
			abort();
}

static void begin(struct held *all)
{
	rows = 0;
	fails_at = SIZE_MAX;
	if (held_open(all))
		abort();
}

static const struct resident_record *of_stack(int32_t stack)
{
	for (size_t i = 0; i < rows; i++)
		if (row[i].stack == stack)
			return &row[i];
	return NULL;
}

/* 4096 rows are kept apart; the rest of each group is one row without a stack. */
static void test_many(void)
{
	struct resident_sum_record sum = {.each = 1, .anon_bytes = 1 << 30, .file_bytes = 1 << 30};
	struct held all;

	begin(&all);
	for (int i = 0; i < 4096; i++)
		add(&all, i, GROUP_ANON, 1, false);
	is_u64(all.n, 4096, "as many rows as there is room for");
	add(&all, 5000, GROUP_ANON, 1, false);
	add(&all, 5001, GROUP_ANON, 1, false);
	is_u64(all.n, 4097, "the rest is one row");
	add(&all, 5002, GROUP_FILE, 1, false);
	is_u64(all.n, 4098, "and one of the other group");
	add(&all, -1, GROUP_SHMEM, 1, true);
	is_u64(all.n, 4099, "a row without a stack has its place");
	add(&all, 4095, GROUP_ANON, 4, false);
	is_u64(all.n, 4099, "and so has a known one");
	is_u64(held_send(&all, &sum, &sink), 0, "they are sent");
	ok(rows == 4099 && total.rows == 4099, "all of them");
	ok(row[0].stack == 4095 && row[0].pages == 5 && row[1].stack == -1 && row[1].pages == 2,
	   "the largest first");
	is_u64(row[rows - 1].nth, rows - 1, "each with its number");
	held_free(&all);
	ok(!all.row && !all.slot && !all.n, "nothing is left");
}

/* Rows of equal size have an order of their own, whatever came first. */
static void test_ties(void)
{
	static const int32_t stacks[2][4] = {{7, 3, 9, 5}, {9, 5, 3, 7}};
	int32_t order[2][4] = {};

	for (int k = 0; k < 2; k++) {
		struct resident_sum_record sum = {.each = 1, .anon_bytes = 1 << 20};
		struct held all;

		begin(&all);
		for (int i = 0; i < 4; i++)
			add(&all, stacks[k][i], GROUP_ANON, stacks[k][i] == 9 ? 3 : 2, false);
		held_send(&all, &sum, &sink);
		for (size_t i = 0; i < 4 && i < rows; i++)
			order[k][i] = row[i].stack;
		held_free(&all);
	}
	ok(order[0][0] == 9, "the largest one is first");
	ok(!memcmp(order[0], order[1], sizeof(order[0])), "the others are in the same order");
}

/* Wilson's interval of a share: 5 of 10 are 23.66 to 76.34 %, 1 of 10 is 1.79 to 40.42 %. */
static void test_intervals(void)
{
	struct resident_sum_record sum = {.each = 64, .anon_bytes = 1000000, .swap_bytes = 300000};
	struct held all;

	begin(&all);
	add(&all, 1, GROUP_ANON, 5, false);
	add(&all, 2, GROUP_ANON, 4, false);
	add(&all, 3, GROUP_ANON, 1, false);
	add(&all, 3, GROUP_ANON, 1, true);
	add(&all, 4, GROUP_ANON, 2, true);
	held_send(&all, &sum, &sink);
	is_u64(of_stack(1)->bytes, 500000, "a half");
	ok(of_stack(1)->low > 236500 && of_stack(1)->low < 236700, "its lower bound");
	ok(of_stack(1)->high > 763300 && of_stack(1)->high < 763500, "its upper bound");
	is_u64(of_stack(3)->bytes, 100000, "a tenth");
	ok(of_stack(3)->low > 17800 && of_stack(3)->low < 18000, "its lower bound");
	ok(of_stack(3)->high > 404100 && of_stack(3)->high < 404300, "its upper bound");
	is_u64(of_stack(3)->swapped_bytes, 100000, "a third of the swap");
	is_u64(of_stack(3)->pages, 2, "of two pages");
	ok(!of_stack(4)->bytes && !of_stack(4)->low && of_stack(4)->swapped_bytes == 200000,
	   "a row in swap alone");
	is_u64(of_stack(1)->swapped_bytes, 0, "and one without any");
	held_free(&all);
}

/* Memory of a group of which no page was chosen has a row, from one page on. */
static void test_not_chosen(void)
{
	static const struct {
		uint64_t bytes;
		size_t rows;
	} cases[] = {{PAGE_BYTES, 1}, {PAGE_BYTES - 1, 0}, {0, 0}, {10 * PAGE_BYTES, 1}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct resident_sum_record sum = {.each = 64, .file_bytes = cases[i].bytes};
		struct held all;

		begin(&all);
		held_send(&all, &sum, &sink);
		ok(rows == cases[i].rows && total.rows == rows, "%d bytes: %s", (int)cases[i].bytes,
		   cases[i].rows ? "a row" : "no row");
		if (rows)
			ok(row[0].bytes == cases[i].bytes && row[0].low == row[0].bytes &&
				   row[0].high == row[0].bytes && !row[0].pages &&
				   row[0].by == RESIDENT_NOT_CHOSEN && row[0].stack == -1 &&
				   row[0].kind == HOLDING_FILE_PRIVATE,
			   "which is exact");
		held_free(&all);
	}
}

/* A process without memory of its own has no row: only the sum is sent. */
static void test_nothing(void)
{
	struct resident_sum_record sum = {.each = 64};
	struct held all;

	begin(&all);
	memset(&total, 0xff, sizeof(total));
	is_u64(held_send(&all, &sum, &sink), 0, "no memory");
	ok(!rows && !total.rows && total.each == 64, "no row, but the sum");
	held_free(&all);
}

/* Huge pages are exact, and are no part of what the other pages stand for. */
static void test_huge(void)
{
	struct resident_sum_record sum = {.each = 64, .anon_bytes = 3 << 20};
	const struct row_key huge = key_of(2, GROUP_ANON);
	struct held all;

	begin(&all);
	add(&all, 1, GROUP_ANON, 4, false);
	held_add_huge(&all, &huge, 1 << 20);
	held_add_huge(&all, &huge, 1 << 20);
	held_send(&all, &sum, &sink);
	ok(of_stack(1)->bytes == 1 << 20 && !of_stack(1)->huge_bytes, "the other pages");
	ok(of_stack(2)->bytes == 2 << 20 && of_stack(2)->huge_bytes == 2 << 20, "huge pages");
	ok(row[0].stack == 2, "and they count for the order");
	held_free(&all);
	begin(&all);
	add(&all, 1, GROUP_ANON, 4, false);
	held_add_huge(&all, &huge, 8 << 20);
	held_send(&all, &sum, &sink);
	is_u64(of_stack(1)->bytes, 0, "more than the kernel's total leaves nothing");
	held_free(&all);
}

/* The kernel has no total for memory of devices: chosen pages stand for others. */
static void test_device(void)
{
	struct resident_sum_record sum = {.each = 8, .anon_bytes = PAGE_BYTES};
	struct held all;

	begin(&all);
	add(&all, 1, GROUP_DEVICE, 3, false);
	held_send(&all, &sum, &sink);
	is_u64(of_stack(1)->bytes, 3 * 8 * PAGE_BYTES, "memory of a device");
	held_free(&all);
}

static void test_copied(void)
{
	struct resident_sum_record sum = {.each = 1, .shmem_bytes = 1 << 20};
	struct row_key key = {.toucher = {.start_ns = 5, .pid = 6},
			      .stack = 3,
			      .before = 4,
			      .by = RESIDENT_COPIED,
			      .kind = HOLDING_SHARED_MEMORY,
			      .group = GROUP_SHMEM,
			      .file = "name"};
	struct held all;

	begin(&all);
	sum.subject = (struct process_key){.start_ns = 1, .pid = 2};
	held_add_page(&all, &key, false);
	held_send(&all, &sum, &sink);
	ok(row[0].toucher.pid == 6 && row[0].toucher.start_ns == 5 && row[0].stack == 3 &&
		   row[0].before == 4 && row[0].by == RESIDENT_COPIED &&
		   row[0].kind == HOLDING_SHARED_MEMORY && !strcmp(row[0].file, "name"),
	   "a record has what its pages have in common");
	ok(row[0].subject.pid == 2 && total.subject.pid == 2 && total.h.t_ns == row[0].h.t_ns,
	   "its process, and the time");
	held_free(&all);
}

static void test_errors(void)
{
	struct resident_sum_record sum = {.each = 1, .anon_bytes = 1 << 20};
	struct held all;

	for (size_t i = 0; i < 3; i++) {
		begin(&all);
		add(&all, 1, GROUP_ANON, 1, false);
		add(&all, 2, GROUP_ANON, 1, false);
		fails_at = i;
		is_u64(-held_send(&all, &sum, &sink), ENOSPC, "a record that is not taken");
		is_u64(rows, i, "ends the list");
		held_free(&all);
	}
}

int main(void)
{
	row = calloc(ROWS, sizeof(*row));
	if (!row)
		abort();
	test_many();
	test_ties();
	test_intervals();
	test_not_chosen();
	test_nothing();
	test_huge();
	test_device();
	test_copied();
	test_errors();
	free(row);
	return tap_done();
}
