/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: hash tables. An entry begins with its link, and stays where it is; who owns the table says
 * by which number an entry is found, and compares. The number of chains is fixed, so that nothing
 * is allocated but once.
 */
#ifndef FS_BASE_TABLE_H
#define FS_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_link {
	struct table_link *next;
	uint64_t hash;
};

/* Zero-initialised it is a table in which nothing is found. */
struct table {
	struct table_link **chain; /* owned */
	uint32_t chains;	   /* a power of two */
};

/* Returns 0 or -ENOMEM; does nothing to a table that has been made. */
int table_make(struct table *t, uint32_t chains);

/* Calls `drop` with each entry (NULL: they are not the table's), and frees the chains. */
void table_free(struct table *t, void (*drop)(struct table_link *entry));

void table_remove(struct table *t, struct table_link *entry);

/* Every entry, chain by chain: NULL begins. The entry before the one returned may be removed. */
struct table_link *table_each(const struct table *t, const struct table_link *after);

static inline void table_add(struct table *t, struct table_link *entry, uint64_t hash)
{
	struct table_link **chain = &t->chain[hash & (t->chains - 1)];

	*entry = (struct table_link){*chain, hash};
	*chain = entry;
}

/* The next entry of the same hash; NULL: there is none. */
static inline void *table_next(const struct table_link *entry, uint64_t hash)
{
	struct table_link *next = entry->next;

	while (next && next->hash != hash)
		next = next->next;
	return next;
}

/* The newest entry of a hash; NULL: there is none. */
static inline void *table_find(const struct table *t, uint64_t hash)
{
	struct table_link *first = t->chain ? t->chain[hash & (t->chains - 1)] : NULL;

	return !first || first->hash == hash ? first : table_next(first, hash);
}

#endif
