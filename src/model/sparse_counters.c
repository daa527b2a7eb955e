// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model/sparse_counters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS    (sizeof(struct counters) / sizeof(uint64_t))
#define GROUPS	    ((COUNTERS + SPARSE_GROUP - 1) / SPARSE_GROUP)
#define GROUP_BYTES (SPARSE_GROUP * sizeof(uint64_t))
#define BYTES_MAX   (sizeof(struct sparse_counters) + GROUPS * GROUP_BYTES)
#define BIT(group)  (1ULL << (group))

_Static_assert(GROUPS <= 64, "one bit for each group");

/* Returns the number of counters in a group: the last group may be shorter. */
static size_t counters_in(size_t group)
{
	size_t rest = COUNTERS - group * SPARSE_GROUP;

	return rest < SPARSE_GROUP ? rest : SPARSE_GROUP;
}

static uint64_t groups_of(const uint64_t *counter)
{
	uint64_t groups = 0;

	for (size_t g = 0; g < GROUPS; g++) {
		uint64_t any = 0;

		for (size_t i = 0; i < counters_in(g); i++)
			any |= counter[g * SPARSE_GROUP + i];
		groups |= any ? BIT(g) : 0;
	}
	return groups;
}

static size_t bytes_of(uint64_t groups)
{
	return sizeof(struct sparse_counters) + __builtin_popcountll(groups) * GROUP_BYTES;
}

/* Makes room for these groups. The counters in *to are then undefined. */
static int make_room(struct sparse_counters **to, uint64_t groups)
{
	struct sparse_counters *s = *to;
	size_t bytes = bytes_of(groups);

	if (!s || bytes_of(s->groups) != bytes) {
		s = bytes <= BYTES_MAX ? malloc(bytes) : NULL;
		if (!s)
			return -ENOMEM;
		free(*to);
		*to = s;
	}
	s->groups = groups;
	return 0;
}

int sparse_store(struct sparse_counters **to, const struct counters *c)
{
	const uint64_t *counter = (const uint64_t *)c;
	int err = make_room(to, groups_of(counter));
	uint64_t *at;

	if (err)
		return err;
	at = (*to)->counter;
	for (size_t g = 0; g < GROUPS; g++)
		if ((*to)->groups & BIT(g)) {
			memcpy(at, counter + g * SPARSE_GROUP, counters_in(g) * sizeof(*at));
			at += SPARSE_GROUP;
		}
	return 0;
}

int sparse_copy(struct sparse_counters **to, const struct sparse_counters *from)
{
	int err = make_room(to, from->groups);

	if (!err)
		memcpy(*to, from, sparse_bytes(from));
	return err;
}

size_t sparse_bytes(const struct sparse_counters *s)
{
	return bytes_of(s->groups);
}

const struct counters *sparse_read(const struct sparse_counters *s, struct counters *zeros)
{
	uint64_t *counter = (uint64_t *)zeros;
	const uint64_t *at = s->counter;

	for (uint64_t left = s->groups; left; left &= left - 1, at += SPARSE_GROUP) {
		size_t g = __builtin_ctzll(left);

		memcpy(counter + g * SPARSE_GROUP, at, counters_in(g) * sizeof(*at));
	}
	return zeros;
}

uint64_t sparse_counter(const struct sparse_counters *s, size_t at)
{
	size_t i = at / sizeof(uint64_t), g = i / SPARSE_GROUP;

	if (!(s->groups & BIT(g)))
		return 0;
	return s->counter[__builtin_popcountll(s->groups & (BIT(g) - 1)) * SPARSE_GROUP +
			  i % SPARSE_GROUP];
}
