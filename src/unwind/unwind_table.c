// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/unwind_table.h"

/* The kernel maps segments from the start of a page. */
#define PAGE_BYTES 4096

bool unwind_table_bias(const struct unwind_table *t, __u64 start, __u64 offset, __u64 *ret)
{
	for (unsigned int i = 0; i < t->codes; i++) {
		__u64 before = t->code[i].offset % PAGE_BYTES;

		if (offset < t->code[i].offset - before ||
		    offset - (t->code[i].offset - before) >= t->code[i].bytes + before)
			continue;
		*ret = start - (t->code[i].address + (offset - t->code[i].offset));
		return true;
	}
	return false;
}

void unwind_table_free(struct unwind_table *t)
{
	row_table_free(&t->rows);
}
