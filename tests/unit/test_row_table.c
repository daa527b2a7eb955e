// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests the rows of one file: its pages, the order of addresses, and the greatest number of rows.
 */
#include <errno.h>

#include "tap.h"
#include "unwind/row_table.h"

#define BASE 0x30000
#define PAGE FS_UNWIND_PAGE_BYTES

static void test_pages(void)
{
	static const __u64 most = (__u64)UNWIND_PAGES_MAX * PAGE;
	static const struct {
		__u64 start, end;
		int err;
		size_t pages;
		const char *name;
	} t[] = {
		{BASE, BASE, E2BIG, 0, "no address"},
		{BASE + 1, BASE, E2BIG, 0, "an end before the start"},
		{BASE + 5, BASE + 5, E2BIG, 0, "no address, in a page"},
		{BASE + 5, BASE + 4, E2BIG, 0, "an end before the start, in a page"},
		{BASE, BASE + 1, 0, 1, "one address"},
		{BASE, BASE + PAGE, 0, 1, "a whole page"},
		{BASE, BASE + PAGE + 1, 0, 2, "a page and an address"},
		{BASE + PAGE - 1, BASE + PAGE, 0, 1, "the last address of a page"},
		{BASE + PAGE - 1, BASE + PAGE + 1, 0, 2, "addresses of two pages"},
		{BASE, BASE + most, 0, UNWIND_PAGES_MAX, "the greatest number of pages"},
		{BASE + PAGE - 1, BASE + most, 0, UNWIND_PAGES_MAX, "begun by its last address"},
		{BASE, BASE + most + 1, E2BIG, 0, "an address more"},
		{BASE + PAGE - 1, BASE + most + 1, E2BIG, 0, "an address more, of fewer in all"},
		{0, ~0ULL, E2BIG, 0, "all addresses"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct row_table r;

		is_u64(-row_table_init(&r, t[i].start, t[i].end), t[i].err, t[i].name);
		is_u64(r.pages, t[i].pages, "its pages");
		if (!t[i].err)
			is_u64(r.base, t[i].start / PAGE * PAGE, "the address of the first page");
		is_u64(row_table_bytes(&r), t[i].pages * sizeof(struct fs_unwind_page),
		       "it has no rows yet");
		row_table_free(&r);
		is_u64(r.pages, 0, "no page is left");
	}
}

/* Tests which addresses can be added, and that one which cannot changes nothing. */
static void test_order(void)
{
	static const struct {
		__u64 address;
		int err;
		size_t rows;
		const char *name;
	} t[] = {
		{BASE - 1, EINVAL, 0, "an address before the first page"},
		{BASE + 3 * PAGE, EINVAL, 0, "an address behind the last page"},
		{BASE + PAGE + 8, 0, 3, "an address of the second page"},
		{BASE + PAGE + 7, EINVAL, 3, "an address before the last one"},
		{BASE + PAGE - 1, EINVAL, 3, "an address of the page before"},
		{BASE + PAGE + 8, 0, 3, "the same address"},
		{BASE + PAGE + 9, 0, 4, "the next address"},
		{BASE + 2 * PAGE, 0, 5, "the first address of the last page"},
		{BASE + 2 * PAGE - 1, EINVAL, 5, "the one before it"},
		{BASE + 3 * PAGE - 1, 0, 6, "the last address"},
	};
	struct row_table r;

	row_table_init(&r, BASE + 5, BASE + 3 * PAGE);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		is_u64(-row_table_add(&r, t[i].address, 100 + i), t[i].err, t[i].name);
		is_u64(r.rows, t[i].rows, "the number of rows");
	}
	is_u64(row_table_finish(&r), 0, "the end");
	is_u64(row_table_find(&r, BASE - 1), FS_UNWIND_RULE_GAP, "outside is a gap");
	is_u64(row_table_find(&r, BASE + PAGE + 7), FS_UNWIND_RULE_GAP,
	       "before all rules is a gap");
	is_u64(row_table_find(&r, BASE + PAGE + 8), 105, "of two rules the later one stays");
	is_u64(row_table_find(&r, BASE + PAGE + 9), 106, "the next rule");
	is_u64(row_table_find(&r, BASE + 2 * PAGE - 1), 106,
	       "which holds up to the end of the page");
	is_u64(row_table_find(&r, BASE + 2 * PAGE), 107, "the rule of the last page");
	is_u64(row_table_find(&r, BASE + 3 * PAGE - 2), 107, "up to the last address but one");
	is_u64(row_table_find(&r, BASE + 3 * PAGE - 1), 109, "the last address");
	is_u64(row_table_find(&r, BASE + 3 * PAGE), FS_UNWIND_RULE_GAP, "behind it is a gap");
	is_u64(row_table_bytes(&r),
	       3 * sizeof(struct fs_unwind_page) + 6 * sizeof(struct fs_unwind_row), "its size");
	row_table_free_rows(&r);
	is_u64(r.base, BASE, "the address stays known when the rows are freed");
	is_u64(r.rows, 0, "no row is left");
	row_table_free(&r);
}

/* Tests that a rule which repeats the one before it has no row of its own. */
static void test_repeated(void)
{
	struct row_table r;

	row_table_init(&r, BASE, BASE + 4 * PAGE);
	row_table_add(&r, BASE, 7);
	is_u64(row_table_add(&r, BASE + 16, 7), 0, "the same rule again is no error");
	is_u64(r.rows, 1, "but no row");
	row_table_add(&r, BASE + 32, 8);
	row_table_add(&r, BASE + 32, 7);
	is_u64(r.rows, 1, "another rule that did not stay");
	is_u64(r.page[0].rows, 1, "the page has one row");
	row_table_add(&r, BASE + 32, 8);
	row_table_add(&r, BASE + 48, 9);
	row_table_add(&r, BASE + 48, 10);
	is_u64(r.rows, 3, "another rule that is replaced by a third one");
	row_table_add(&r, BASE + PAGE, 11);
	row_table_add(&r, BASE + PAGE, 10);
	is_u64(r.rows, 4, "a page begins with a row, though the rule goes on");
	row_table_add(&r, BASE + PAGE + 1, 12);
	is_u64(row_table_finish(&r), 0, "the end");
	is_u64(r.rows, 7, "the last pages have a row each");
	is_u64(r.page[1].first, 3, "the first row of the second page");
	is_u64(r.page[1].rows, 2, "its rows");
	is_u64(r.page[3].first, 6, "the first row of the last page");
	is_u64(row_table_find(&r, BASE + PAGE), 10, "the rule at the border of a page");
	is_u64(row_table_find(&r, BASE + 2 * PAGE), 12, "the last rule goes on in the next page");
	is_u64(row_table_find(&r, BASE + 4 * PAGE - 1), 12, "the last rule holds up to the end");
	row_table_free(&r);
}

static void test_rows_most(void)
{
	struct row_table r;
	int failed = 0;

	row_table_init(&r, 0, UNWIND_ROWS_MAX + 1);
	for (__u64 i = 0; i < UNWIND_ROWS_MAX; i++)
		failed += row_table_add(&r, i, i & 1) != 0;
	is_u64(failed, 0, "the greatest number of rows");
	is_u64(-row_table_add(&r, UNWIND_ROWS_MAX, 3), E2BIG, "one row more");
	is_u64(r.rows, UNWIND_ROWS_MAX, "is not added");
	is_u64(row_table_find(&r, UNWIND_ROWS_MAX - 1), 1, "the last row is found");
	row_table_free(&r);

	row_table_init(&r, 0, UNWIND_ROWS_MAX + 1);
	for (__u64 i = 0; i < UNWIND_ROWS_MAX; i++)
		failed += row_table_add(&r, i, i & 1) != 0;
	is_u64(-row_table_finish(&r), E2BIG, "there is no row for the last page");
	row_table_free(&r);
}

int main(void)
{
	test_pages();
	test_order();
	test_repeated();
	test_rows_most();
	return tap_done();
}
