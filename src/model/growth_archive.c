// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/growth_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define INDEX_SIZE (8 * GROWTH_MAX) /* hash slots: a power of two above the number of rows */

_Static_assert(INDEX_SIZE > MODEL_GROWTH_MAX, "a free entry ends a search");

static bool is_same_row(const struct growth *a, const struct growth *b)
{
	uint32_t differing = (a->flags ^ b->flags) & ~GROWTH_SAMPLED;

	return same_subject(&a->subject, &b->subject) && a->stack == b->stack &&
	       a->call == b->call && a->what == b->what && !differing && a->mode == b->mode &&
	       !strcmp(a->name, b->name);
}

static uint32_t hash_of(const struct growth *g)
{
	uint64_t hash = hash64_bytes(HASH64_BEGIN, &g->subject, sizeof(g->subject));

	hash = hash64_bytes(hash, &g->stack, sizeof(g->stack));
	hash = hash64_bytes(hash, g->name, strlen(g->name));
	return hash ^ hash >> 32;
}

/*
 * Returns the hash slot of a row, or a free slot for it. A slot holds a row number, or 0 if it is
 * free.
 */
static uint32_t *entry_of(const struct model *m, const struct growth *row)
{
	uint32_t at = hash_of(row);

	for (;; at++) {
		uint32_t *entry = &m->growth_index[at % INDEX_SIZE];

		if (!*entry || is_same_row(&m->growth[*entry], row))
			return entry;
	}
}

static int make_room(struct model *m)
{
	struct growth *rows = m->growth;

	if (m->growth_index)
		return 0;
	rows = realloc(m->growth, MODEL_GROWTH_MAX * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	m->growth = rows;
	m->growth_index = calloc(INDEX_SIZE, sizeof(*m->growth_index));
	if (!m->growth_index)
		return -ENOMEM;
	if (m->growths < GROWTH_MAX)
		m->growths = GROWTH_MAX;
	return 0;
}

static bool has_ended(const struct model *m, const struct growth *g)
{
	const struct subject *s = model_find(m, &g->subject);

	return !s || s->final;
}

static void count_lost(struct model *m, const struct growth *g)
{
	m->growth_lost += g->added > g->removed;
}

static void drop_ended(struct model *m)
{
	size_t kept = GROWTH_MAX;

	memset(m->growth_index, 0, INDEX_SIZE * sizeof(*m->growth_index));
	for (size_t i = GROWTH_MAX; i < m->growths; i++) {
		if (has_ended(m, &m->growth[i])) {
			count_lost(m, &m->growth[i]);
			continue;
		}
		m->growth[kept] = m->growth[i];
		*entry_of(m, &m->growth[kept]) = kept;
		kept++;
	}
	m->growths = kept;
}

int growth_archive(struct model *m, const struct growth *row)
{
	int err = make_room(m);
	uint32_t *entry;

	if (err)
		return err;
	entry = entry_of(m, row);
	if (*entry) {
		struct growth *kept = &m->growth[*entry];

		kept->added += row->added;
		kept->removed += row->removed;
		kept->flags |= row->flags;
		kept->last_ns = row->last_ns;
		return 0;
	}
	/* drop rows only if a process has exited since rows were last dropped */
	if (m->growths == MODEL_GROWTH_MAX && m->totals.ended != m->growth_dropped_at) {
		m->growth_dropped_at = m->totals.ended;
		drop_ended(m);
		entry = entry_of(m, row);
	}
	if (m->growths == MODEL_GROWTH_MAX) {
		count_lost(m, row);
		return 0;
	}
	*entry = m->growths;
	m->growth[m->growths++] = *row;
	return 0;
}
