// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>

int table_make(struct table *t, uint32_t chains)
{
	if (t->chain)
		return 0;
	t->chain = calloc(chains, sizeof(struct table_link *));
	t->chains = t->chain ? chains : 0;
	return t->chain ? 0 : -ENOMEM;
}

void table_free(struct table *t, void (*drop)(struct table_link *entry))
{
	struct table_link *next;

	for (struct table_link *one = drop ? table_each(t, NULL) : NULL; one; one = next) {
		next = table_each(t, one);
		drop(one);
	}
	free(t->chain);
	*t = (struct table){};
}

void table_remove(struct table *t, struct table_link *entry)
{
	struct table_link **at = &t->chain[entry->hash & (t->chains - 1)];

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
}

struct table_link *table_each(const struct table *t, const struct table_link *after)
{
	uint32_t i = after ? (after->hash & (t->chains - 1)) + 1 : 0;

	if (after && after->next)
		return after->next;
	while (i < t->chains && !t->chain[i])
		i++;
	return i < t->chains ? t->chain[i] : NULL;
}
