/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * base: hash tables with chaining. An entry begins with its struct table_link and never moves. The
 * owner of the table computes hashes and compares keys. The number of chains is fixed, so only
 * table_make() allocates.
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

/* A table of zeros is empty. */
struct table {
	struct table_link **chain; /* first entry of each chain; owned by the table */
	uint32_t chains;	   /* number of chains, a power of two */
};

/* Allocates the chains. Returns 0 or -ENOMEM; a table that already has chains stays unchanged. */
int table_make(struct table *t, uint32_t chains);

/* Calls `drop` for each entry (NULL: the table does not own them), and frees the chains. */
void table_free(struct table *t, void (*drop)(struct table_link *entry));

void table_remove(struct table *t, struct table_link *entry);

/*
 * Iterates over all entries. With `after` NULL, returns the first entry. The caller may remove the
 * entry that the previous call returned.
 */
struct table_link *table_each(const struct table *t, const struct table_link *after);

static inline void table_add(struct table *t, struct table_link *entry, uint64_t hash)
{
	struct table_link **chain = &t->chain[hash & (t->chains - 1)];

	*entry = (struct table_link){*chain, hash};
	*chain = entry;
}

/* Returns the next entry after `entry` that has the hash `hash`, or NULL. */
static inline void *table_next(const struct table_link *entry, uint64_t hash)
{
	struct table_link *next = entry->next;

	while (next && next->hash != hash)
		next = next->next;
	return next;
}

/* Returns the newest entry with this hash, or NULL. */
static inline void *table_find(const struct table *t, uint64_t hash)
{
	struct table_link *first = t->chain ? t->chain[hash & (t->chains - 1)] : NULL;

	return !first || first->hash == hash ? first : table_next(first, hash);
}

#endif
