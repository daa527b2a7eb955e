/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the set of unique rules of all files. Rows refer to a rule by its index, which does not
 * change. The fixed rules (enum fs_unwind_fixed) come first.
 */
#ifndef FS_UNWIND_RULE_SET_H
#define FS_UNWIND_RULE_SET_H

#include <stddef.h>

#include "wire_unwind.h"

#define UNWIND_RULES_MAX 65536
#define RULE_SLOTS_MAX	 (2 * UNWIND_RULES_MAX)

struct rule_set {
	struct fs_unwind_rule *rule; /* owned */
	size_t n;
	size_t room;
	__u32 *slot; /* hash table of rule index + 1; 0: empty; owned */
	/* number of rules for which there was no room; they became FS_UNWIND_RULE_OPAQUE */
	__u64 refused;
};

/* Initialises a set that contains the fixed rules. Returns 0 or -ENOMEM. */
int rule_set_init(struct rule_set *s);
void rule_set_free(struct rule_set *s);

/* Adds a rule if it is new. Returns its index, or FS_UNWIND_RULE_OPAQUE if there is no room. */
__u16 rule_set_add(struct rule_set *s, struct fs_unwind_rule rule);

#endif
