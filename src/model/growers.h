/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: growth of a process's mappings and fds by call stack and by name: what its calls added and
 * removed.
 */
#ifndef FS_MODEL_GROWERS_H
#define FS_MODEL_GROWERS_H

#include "model/model.h"

#define GROWER_NAME 96

/*
 * Growth of mappings or fds, by name or by call site. The kernel side does not know which call
 * created the mapping that an munmap removes. `removed` therefore counts all unmaps of the name,
 * and `added - removed` is a lower bound.
 */
struct grower {
	char name[GROWER_NAME]; /* name of the growth; for a call site, its main name */
	uint64_t added, removed;
	uint64_t known; /* part of `added` with a known user stack */
	int32_t stack;	/* number of the stack with the largest growth; < 0: not known */
	uint64_t by_stack;
	bool sampled; /* samples counted some of the fds, so that all counts are estimates */
};

/*
 * Finds the names with the largest remaining growth, up to `room`. Returns the number of names, or
 * -ENOMEM. `*ret_added` is the sum of `added` over all names.
 */
int growers_of(const struct model *m, const struct process_key *id, enum what what,
	       struct grower *ret, size_t room, uint64_t *ret_added);

/* Finds the call sites with the largest remaining growth, over all names, like growers_of(). */
int growers_by_place(const struct model *m, const struct process_key *id, enum what what,
		     struct grower *ret, size_t room, uint64_t *ret_added);

/* Writes a readable name of a growth row: "torch_# (deleted) in tmpfs", "thread stack", … */
void growth_name(const struct growth *g, char *ret, size_t size);

#endif
