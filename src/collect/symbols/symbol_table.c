// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/symbols/symbol_table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * Functions without a size are hand-written assembly. They are assumed to have at most this many
 * bytes.
 */
#define UNSIZED_BYTES 4096
/* Maximum number of start addresses that a lookup tries: compilers do not nest functions deeper. */
#define GROUPS_BACK 16

void symbol_table_add(struct symbol_table *t, __u64 start, __u32 bytes, __u32 name)
{
	struct symbol_entry *e = array_grow(t->e, t->n, &t->room, SYMBOL_TABLE_MAX, sizeof(*e));

	if (!e) {
		t->cut++;
		return;
	}
	t->e = e;
	t->e[t->n++] = (struct symbol_entry){start, bytes, name};
}

static int compare_entries(const void *a, const void *b)
{
	const struct symbol_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

void symbol_table_sort(struct symbol_table *t)
{
	struct symbol_entry *e;

	if (!t->n)
		return;
	qsort(t->e, t->n, sizeof(*t->e), compare_entries);
	t->sorted = t->n;
	e = realloc(t->e, t->n * sizeof(*e));
	if (!e)
		return;
	t->e = e;
	t->room = t->n;
}

/* Returns the number of sorted entries that start at or below an address. */
static size_t count_up_to(const struct symbol_table *t, __u64 at)
{
	return array_count_up_to(t->e, t->sorted, sizeof(*t->e),
				 offsetof(struct symbol_entry, start), at);
}

static bool holds(const struct symbol_entry *e, __u64 at, bool nearest)
{
	if (e->bytes)
		return at - e->start < e->bytes;
	return nearest && at - e->start < UNSIZED_BYTES;
}

const struct symbol_entry *symbol_table_find(const struct symbol_table *t, __u64 at, size_t *ret_n)
{
	size_t end = count_up_to(t, at);

	for (int back = 0; end && back < GROUPS_BACK; back++) {
		size_t first = end - 1;
		bool held = false;

		while (first && t->e[first - 1].start == t->e[end - 1].start)
			first--;
		for (size_t i = first; i < end; i++)
			held = held || holds(&t->e[i], at, !back);
		if (held) {
			*ret_n = end - first;
			return &t->e[first];
		}
		end = first;
	}
	return NULL;
}

const struct symbol_entry *symbol_table_find_new(const struct symbol_table *t, __u64 at)
{
	for (size_t i = t->n; i > t->sorted; i--)
		if (at >= t->e[i - 1].start && holds(&t->e[i - 1], at, false))
			return &t->e[i - 1];
	return NULL;
}

void symbol_table_free(struct symbol_table *t)
{
	free(t->e);
	*t = (struct symbol_table){.cut = t->cut};
}
