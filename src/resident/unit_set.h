/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* resident: sets of page numbers, filled in ascending order. */
#ifndef FS_RESIDENT_UNIT_SET_H
#define FS_RESIDENT_UNIT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_set {
	uint64_t *unit; /* ascending; owned */
	size_t n, room;
};

/* A unit of memory: a page, or a huge page. */
struct unit {
	uint64_t number;
	bool huge;
};

/* The numbers of pages, and of huge pages. */
struct unit_sets {
	struct unit_set pages, huge;
};

/*
 * Adds a number that is not below the last one; adds an equal one only once. Returns 0 or -ENOMEM.
 */
int unit_set_add(struct unit_set *s, uint64_t unit);
bool unit_set_has(const struct unit_set *s, uint64_t unit);

/* Frees the numbers of `s`, and moves those of `from` to it. */
void unit_set_replace(struct unit_set *s, struct unit_set *from);
void unit_set_free(struct unit_set *s);

/* Adds a unit to the set of its kind. Returns 0 or -ENOMEM. */
int unit_sets_add(struct unit_sets *s, const struct unit *u);

/* Returns whether the sets have a unit, or the huge page that a page is a part of. */
bool unit_sets_have(const struct unit_sets *s, const struct unit *u);
void unit_sets_replace(struct unit_sets *s, struct unit_sets *from);
void unit_sets_free(struct unit_sets *s);

#endif
