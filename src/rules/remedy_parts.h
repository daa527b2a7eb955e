/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rules: functions that remedy_machine.c, remedy_process.c and remedy_cgroup.c share. */
#ifndef FS_RULES_REMEDY_PARTS_H
#define FS_RULES_REMEDY_PARTS_H

#include "rules/remedy.h"

/* The list of remedies that remedies_for() fills. */
struct remedies {
	const struct origin *o;
	const struct remedy_for *f;
	uint64_t want;
	struct remedy *r;
	size_t n;
};

/* Adds a remedy and returns it. Frees `command`. A command that is too long is left out. */
struct remedy *remedy_add(struct remedies *all, enum remedy_kind kind, bool persistent,
			  const char *say, struct buf *command);

/* Writes the suggested value divided by `unit`, rounded up; `none` if it is unlimited. */
void put_wanted(const struct remedies *all, uint64_t unit, const char *none, struct buf *c);

/* Adds the contents of `word` to a shell command as one quoted word, and frees `word`. */
void put_word(struct buf *c, struct buf *word);

/* Add remedies for one kind of limit: remedy_machine.c, remedy_process.c, remedy_cgroup.c. */
void remedy_machine(struct remedies *all);
void remedy_process(struct remedies *all);
void remedy_cgroup(struct remedies *all);

#endif
