/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: who made a process grow, out of what its calls added and took away by user stack and sort
 * of name; and what it holds, where that was read.
 */
#ifndef FS_MODEL_GROWERS_H
#define FS_MODEL_GROWERS_H

#include "model/model.h"

#define GROWER_NAME 96

/*
 * Growth of one sort, or of one place in the code. Who unmaps does not say whose mapping that was:
 * of mappings, `removed` has all that were unmapped by anybody, so that what is left of it is a
 * lower bound.
 */
struct grower {
	char name[GROWER_NAME]; /* of a place: its largest sort */
	uint64_t added, removed;
	uint64_t known; /* of `added`: by a stack that is known */
	int32_t stack;	/* of which most is left; < 0: not known */
	uint64_t by_stack;
};

/*
 * The sorts that grew most, by what is left of them; up to `room`. Returns how many; `*ret_added`
 * is the sum of all sorts.
 */
size_t growers_of(const struct model *m, const struct process_key *id, enum what what,
		  struct grower *ret, size_t room, uint64_t *ret_added);

/* The same by place in the code, whatever it made there. */
size_t growers_by_place(const struct model *m, const struct process_key *id, enum what what,
			struct grower *ret, size_t room, uint64_t *ret_added);

/* What a row of growth is of, for people: "torch_# (deleted) in tmpfs", "thread stack", … */
void growth_name(const struct growth *g, char *ret, size_t size);

#endif
