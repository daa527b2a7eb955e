/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: addresses sorted for looking names up. The names stay in the file that has them: an
 * entry has only the place of its own.
 */
#ifndef FS_COLLECT_SYMBOLS_SYMBOL_TABLE_H
#define FS_COLLECT_SYMBOLS_SYMBOL_TABLE_H

#include <stddef.h>

#include <linux/types.h>

#define SYMBOL_TABLE_MAX (1u << 20) /* 16 MiB */

struct symbol_entry {
	__u64 start;
	__u32 bytes; /* 0: not told, so it is of what follows, up to the next entry */
	__u32 name;  /* where its name is, as the table's owner means it */
};

/* Zero-initialise. */
struct symbol_table {
	struct symbol_entry *e; /* owned, symbol_table_free() */
	size_t n;
	size_t sorted; /* so many of them are */
	size_t room;
	__u64 cut; /* entries that found no room */
};

void symbol_table_add(struct symbol_table *t, __u64 start, __u32 bytes, __u32 name);

/* By address, and of one address by `name`. What is added later is not found until the next. */
void symbol_table_sort(struct symbol_table *t);

/*
 * The entries that begin nearest below `at` (or there) and hold it: the first of them, and how
 * many begin at that same address. NULL: none holds it.
 */
const struct symbol_entry *symbol_table_find(const struct symbol_table *t, __u64 at, size_t *ret_n);

/* Among those that were added since it was sorted: the last that holds it, or NULL. */
const struct symbol_entry *symbol_table_find_new(const struct symbol_table *t, __u64 at);

void symbol_table_free(struct symbol_table *t);

#endif
