// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "unwind/rule_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

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
	if (!s->slot)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(fixed); i++)
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
	memset(s, 0, sizeof(*s));
}

static __u32 slot_of(const struct fs_unwind_rule *rule)
{
	__u64 bits;

	_Static_assert(sizeof(*rule) == sizeof(bits), "a rule has 8 bytes");
	memcpy(&bits, rule, sizeof(bits));
	return bits * 0x9e3779b97f4a7c15ULL >> 47; /* the upper 17 bits of the product */
}

__u16 rule_set_add(struct rule_set *s, struct fs_unwind_rule rule)
{
	struct fs_unwind_rule *grown;
	__u32 at = slot_of(&rule);

	_Static_assert(RULE_SLOTS_MAX == 1 << 17, "slot_of() has so many");
	for (; s->slot[at]; at = (at + 1) % RULE_SLOTS_MAX)
		if (!memcmp(&s->rule[s->slot[at] - 1], &rule, sizeof(rule)))
			return s->slot[at] - 1;
	grown = array_grow(s->rule, s->n, &s->room, UNWIND_RULES_MAX, sizeof(*s->rule));
	if (!grown) {
		s->refused++;
		return FS_UNWIND_RULE_OPAQUE;
	}
	s->rule = grown;
	s->rule[s->n] = rule;
	s->slot[at] = ++s->n;
	return s->n - 1;
}
