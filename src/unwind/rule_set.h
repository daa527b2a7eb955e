/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: the set of unique rules of all files. Rows refer to a rule by its index. A rule that no
 * file uses any more gives its index to another rule. The fixed rules (enum fs_unwind_fixed) come
 * first and stay.
 */
#ifndef FS_UNWIND_RULE_SET_H
#define FS_UNWIND_RULE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "wire_unwind.h"

#define UNWIND_RULES_MAX 65536
#define RULE_SLOTS_MAX	 (2 * UNWIND_RULES_MAX)

struct rule_set {
	struct fs_unwind_rule *rule; /* owned */
	size_t n;
	size_t room;
	__u32 *slot;  /* hash table of rule index + 1; 0: empty; owned */
	__u32 *users; /* number of files that use each rule; owned */
	__u8 *idle;   /* number of sweeps that found each rule unused; owned */
	__u16 *spare; /* indices that new rules may take; owned */
	size_t spares;
	bool released;	/* true: a rule may be unused since the last sweep */
	size_t changed; /* index of the first rule that was added since rule_set_given() */
	/* number of rules for which there was no room; they became FS_UNWIND_RULE_OPAQUE */
	__u64 refused;
};

/* The rules that one file uses. */
struct rule_list {
	__u16 *rule; /* owned */
	size_t n;
};

/* Initialises a set that contains the fixed rules. Returns 0 or -ENOMEM. */
int rule_set_init(struct rule_set *s);
void rule_set_free(struct rule_set *s);

/* Adds a rule if it is new. Returns its index, or FS_UNWIND_RULE_OPAQUE if there is no room. */
__u16 rule_set_add(struct rule_set *s, struct fs_unwind_rule rule);

/*
 * Adds a use of each rule in rows[0..n) to the set, and lists these rules. Returns 0 or -ENOMEM.
 */
int rule_set_use(struct rule_set *s, const struct fs_unwind_row *rows, size_t n,
		 struct rule_list *ret);

/* Removes the uses of a list, and frees the list. */
void rule_set_release(struct rule_set *s, struct rule_list *list);

/*
 * Frees rules that two calls in a row found unused, because the BPF program may still read them
 * after the first. Call this every second, but not while a table is being made.
 */
void rule_set_sweep(struct rule_set *s);

/* Returns the first index that changed since the last call. */
size_t rule_set_given(struct rule_set *s);

#endif
