/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: a table of functions, sorted by address. Names stay in their file. An entry has only the
 * position of its name.
 */
#ifndef FS_COLLECT_SYMBOLS_SYMBOL_TABLE_H
#define FS_COLLECT_SYMBOLS_SYMBOL_TABLE_H

#include <stddef.h>

#include <linux/types.h>

#define SYMBOL_TABLE_MAX (1u << 20) /* maximum number of entries: 16 MiB */

struct symbol_entry {
	__u64 start;
	/* size in bytes; 0: not known, so the function ends at the next entry at the latest */
	__u32 bytes;
	__u32 name;  /* position of the name, in units defined by the table's owner */
};

/* A table of functions. Initialise with zeros. */
struct symbol_table {
	struct symbol_entry *e; /* array, freed by symbol_table_free() */
	size_t n;
	size_t sorted; /* number of entries at the start of `e` that are sorted */
	size_t room;
	__u64 cut; /* entries left out for lack of room */
};

void symbol_table_add(struct symbol_table *t, __u64 start, __u32 bytes, __u32 name);

/* Sorts entries by address, then by `name`. symbol_table_find() sees only sorted entries. */
void symbol_table_sort(struct symbol_table *t);

/*
 * Finds the entries that contain the address `at`. Of these, chooses those with the start that is
 * nearest to it. Returns the first of the chosen entries, and stores their number in *ret_n.
 * Returns NULL if no entry contains the address.
 */
const struct symbol_entry *symbol_table_find(const struct symbol_table *t, __u64 at, size_t *ret_n);

/* Returns the last entry added since the sort that contains the address; NULL: none. */
const struct symbol_entry *symbol_table_find_new(const struct symbol_table *t, __u64 at);

void symbol_table_free(struct symbol_table *t);

#endif
