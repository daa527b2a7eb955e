/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: finds parents and ancestors among the known processes. */
#ifndef FS_MODEL_PROCESS_TREE_H
#define FS_MODEL_PROCESS_TREE_H

#include "model/model.h"

/* Parents of processes. Becomes invalid when the model takes another record. */
struct process_tree {
	const struct subject **by_pid; /* processes by pid, then by start time; owned */
	size_t n;
};

/* Returns 0 or -ENOMEM. Call process_tree_free() in either case. */
int process_tree_of(const struct model *m, struct process_tree *ret);
void process_tree_free(struct process_tree *k);

/* Returns the parent; NULL: not known, for example not watched. */
const struct subject *process_tree_parent(const struct process_tree *k, const struct subject *s);

/* Returns the farthest known ancestor, or the process itself. */
const struct subject *process_tree_root(const struct process_tree *k, const struct subject *s);

#endif
