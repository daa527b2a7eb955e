// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/rule_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define IDLE_FREE 2 /* sweeps after which an unused rule is freed */

int rule_set_init(struct rule_set *s)
{
	static const __u8 fixed[] = {
		[FS_UNWIND_RULE_GAP] = FS_UNWIND_CFA_GAP,
		[FS_UNWIND_RULE_OPAQUE] = FS_UNWIND_CFA_OPAQUE,
		[FS_UNWIND_RULE_END] = FS_UNWIND_CFA_END,
		[FS_UNWIND_RULE_SIGNAL] = FS_UNWIND_CFA_SIGNAL,
		[FS_UNWIND_RULE_CHAIN] = FS_UNWIND_CFA_CHAIN,
	};

	memset(s, 0, sizeof(*s));
	s->slot = calloc(RULE_SLOTS_MAX, sizeof(*s->slot));
	s->users = calloc(UNWIND_RULES_MAX, sizeof(*s->users));
	s->idle = calloc(UNWIND_RULES_MAX, sizeof(*s->idle));
	s->spare = calloc(UNWIND_RULES_MAX, sizeof(*s->spare));
	for (size_t i = 0; s->slot && s->users && s->idle && s->spare && i < sizeof(fixed); i++)
		rule_set_add(s, (struct fs_unwind_rule){.cfa = fixed[i]});
	if (s->n == FS_UNWIND_FIXED_RULES)
		return 0;
	rule_set_free(s);
	return -ENOMEM;
}

void rule_set_free(struct rule_set *s)
{
	free(s->rule);
	free(s->slot);
	free(s->users);
	free(s->idle);
	free(s->spare);
	memset(s, 0, sizeof(*s));
}

static __u32 slot_of(const struct fs_unwind_rule *rule)
{
	__u64 bits;

	_Static_assert(sizeof(*rule) == sizeof(bits), "a rule has 8 bytes");
	memcpy(&bits, rule, sizeof(bits));
	return bits * 0x9e3779b97f4a7c15ULL >> 47; /* the upper 17 bits of the product */
}

/* Returns the slot of a rule, or the empty slot where it can be added. */
static __u32 find_slot(const struct rule_set *s, const struct fs_unwind_rule *rule)
{
	__u32 at = slot_of(rule);

	_Static_assert(RULE_SLOTS_MAX == 1 << 17, "slot_of() has so many");
	while (s->slot[at] && memcmp(&s->rule[s->slot[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) % RULE_SLOTS_MAX;
	return at;
}

/* Returns the index for a new rule; UNWIND_RULES_MAX: there is no room. */
static size_t take_index(struct rule_set *s)
{
	struct fs_unwind_rule *grown;

	if (s->spares)
		return s->spare[--s->spares];
	grown = array_grow(s->rule, s->n, &s->room, UNWIND_RULES_MAX, sizeof(*s->rule));
	if (!grown)
		return UNWIND_RULES_MAX;
	s->rule = grown;
	return s->n++;
}

__u16 rule_set_add(struct rule_set *s, struct fs_unwind_rule rule)
{
	__u32 at = find_slot(s, &rule);
	size_t index;

	if (s->slot[at])
		return s->slot[at] - 1;
	index = take_index(s);
	if (index == UNWIND_RULES_MAX) {
		s->refused++;
		return FS_UNWIND_RULE_OPAQUE;
	}
	s->rule[index] = rule;
	s->slot[at] = index + 1;
	s->idle[index] = 0;
	s->released = true; /* the table may come to nothing */
	if (index < s->changed)
		s->changed = index;
	return index;
}

int rule_set_use(struct rule_set *s, const struct fs_unwind_row *rows, size_t n,
		 struct rule_list *ret)
{
	__u64 used[UNWIND_RULES_MAX / 64] = {};
	size_t i, different = 0;

	*ret = (struct rule_list){};
	for (i = 0; i < n; i++) {
		__u64 *word = &used[rows[i].rule / 64], bit = 1ULL << rows[i].rule % 64;

		different += !(*word & bit);
		*word |= bit;
	}
	if (different > UNWIND_RULES_MAX)
		return -ENOMEM;
	ret->rule = calloc(different + 1, sizeof(*ret->rule));
	if (!ret->rule)
		return -ENOMEM;
	for (i = 0; i < UNWIND_RULES_MAX; i++) {
		if (!(used[i / 64] >> i % 64 & 1))
			continue;
		s->users[i]++;
		s->idle[i] = 0;
		ret->rule[ret->n++] = i;
	}
	return 0;
}

void rule_set_release(struct rule_set *s, struct rule_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		s->users[list->rule[i]]--;
	s->released |= list->n > 0;
	free(list->rule);
	*list = (struct rule_list){};
}

/* Makes the hash table again, without the rules that were freed. */
static void fill_slots(struct rule_set *s)
{
	memset(s->slot, 0, RULE_SLOTS_MAX * sizeof(*s->slot));
	for (size_t i = 0; i < s->n; i++)
		if (s->idle[i] < IDLE_FREE)
			s->slot[find_slot(s, &s->rule[i])] = i + 1;
}

void rule_set_sweep(struct rule_set *s)
{
	size_t freed = s->spares;

	if (!s->released)
		return;
	s->released = false;
	for (size_t i = FS_UNWIND_FIXED_RULES; i < s->n; i++) {
		if (s->users[i] || s->idle[i] == IDLE_FREE)
			continue;
		if (++s->idle[i] == IDLE_FREE)
			s->spare[s->spares++] = i;
		else
			s->released = true;
	}
	if (s->spares != freed)
		fill_slots(s);
}

size_t rule_set_given(struct rule_set *s)
{
	size_t changed = s->changed;

	s->changed = s->n;
	return changed;
}
