// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/row_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "unwind/memory_step.h"

int row_table_init(struct row_table *t, __u64 start, __u64 end)
{
	size_t pages;

	memset(t, 0, sizeof(*t));
	t->base = start & ~(__u64)(FS_UNWIND_PAGE_BYTES - 1);
	if (end <= start || (end - 1 - t->base) >> FS_UNWIND_PAGE_SHIFT >= UNWIND_PAGES_MAX)
		return -E2BIG;
	pages = ((end - 1 - t->base) >> FS_UNWIND_PAGE_SHIFT) + 1;
	if (pages > UNWIND_PAGES_MAX)
		return -E2BIG;
	t->page = calloc(pages, sizeof(*t->page));
	if (!t->page)
		return -ENOMEM;
	t->pages = pages;
	return 0;
}

void row_table_free_rows(struct row_table *t)
{
	__u64 base = t->base;

	row_table_free(t);
	t->base = base;
}

void row_table_free(struct row_table *t)
{
	free(t->page);
	free(t->row);
	memset(t, 0, sizeof(*t));
}

static int push(struct row_table *t, __u16 pc, __u16 rule)
{
	struct fs_unwind_row *row =
		array_grow(t->row, t->rows, &t->room, UNWIND_ROWS_MAX, sizeof(*row));

	if (!row)
		return -E2BIG;
	t->row = row;
	t->row[t->rows++] = (struct fs_unwind_row){pc, rule};
	t->page[t->filled - 1].rows++;
	return 0;
}

static __u16 last_rule(const struct row_table *t)
{
	return t->rows ? t->row[t->rows - 1].rule : FS_UNWIND_RULE_GAP;
}

/* Starts all pages up to this one. Each begins with the rule that holds at its first byte. */
static int fill_pages(struct row_table *t, size_t page)
{
	int err = 0;

	while (!err && t->filled <= page) {
		__u16 rule = last_rule(t);

		t->page[t->filled++].first = t->rows;
		err = push(t, 0, rule);
	}
	return err;
}

int row_table_add(struct row_table *t, __u64 address, __u16 rule)
{
	__u64 page = (address - t->base) >> FS_UNWIND_PAGE_SHIFT;
	__u16 pc = address & (FS_UNWIND_PAGE_BYTES - 1);
	struct fs_unwind_row *last;
	int err;

	if (address < t->base || page >= t->pages || page + 1 < t->filled)
		return -EINVAL;
	err = fill_pages(t, page);
	if (err)
		return err;
	last = &t->row[t->rows - 1];
	if (pc < last->pc)
		return -EINVAL;
	if (pc == last->pc) {
		last->rule = rule;
		/* the row may now repeat the rule of the row before it */
		if (t->page[page].rows > 1 && last[-1].rule == rule) {
			t->rows--;
			t->page[page].rows--;
		}
		return 0;
	}
	return last->rule == rule ? 0 : push(t, pc, rule);
}

int row_table_finish(struct row_table *t)
{
	struct fs_unwind_row *row;
	int err = fill_pages(t, t->pages - 1);

	if (err)
		return err;
	if (t->rows > UNWIND_ROWS_MAX)
		return -E2BIG;
	row = realloc(t->row, t->rows * sizeof(*row));
	if (row) {
		t->row = row;
		t->room = t->rows;
	}
	return 0;
}

__u16 row_table_find(const struct row_table *t, __u64 address)
{
	__u64 page = (address - t->base) >> FS_UNWIND_PAGE_SHIFT;

	if (address < t->base || page >= t->pages)
		return FS_UNWIND_RULE_GAP;
	return fs_unwind_find(t->row, t->page[page].first, t->page[page].rows,
			      address & (FS_UNWIND_PAGE_BYTES - 1), ~0u);
}

size_t row_table_bytes(const struct row_table *t)
{
	return t->pages * sizeof(*t->page) + t->rows * sizeof(*t->row);
}
