/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: what the remedies of machine, process and cgroup are put together from. */
#ifndef FS_RULES_REMEDY_PARTS_H
#define FS_RULES_REMEDY_PARTS_H

#include "rules/remedy.h"

/* The list under construction. */
struct remedies {
	const struct origin *o;
	const struct remedy_for *f;
	uint64_t want;
	struct remedy *r;
	size_t n;
};

/* Adds one; `command` is freed, and left out where it would have to be cut. */
struct remedy *remedy_add(struct remedies *all, enum remedy_kind kind, bool persistent,
			  const char *say, struct buf *command);

/* The wanted value, in units of so many; `none` is the word for no limit. */
void put_wanted(const struct remedies *all, uint64_t unit, const char *none, struct buf *c);

/* Puts what `word` holds as one word of a shell, and frees it. */
void put_word(struct buf *c, struct buf *word);

/* By kind of limit: remedy_machine.c, remedy_process.c, remedy_cgroup.c. */
void remedy_machine(struct remedies *all);
void remedy_process(struct remedies *all);
void remedy_cgroup(struct remedies *all);

#endif
