/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: who is whose child, among the processes that are known. */
#ifndef FS_MODEL_PROCESS_TREE_H
#define FS_MODEL_PROCESS_TREE_H

#include "model/model.h"

/* Holds until the model takes another record. */
struct process_tree {
	const struct subject **by_pid; /* and birth; owned */
	size_t n;
};

/* -ENOMEM. process_tree_free() in any case. */
int process_tree_of(const struct model *m, struct process_tree *ret);
void process_tree_free(struct process_tree *k);

/* NULL where it is not known: it is not watched. */
const struct subject *process_tree_parent(const struct process_tree *k, const struct subject *s);

/* The farthest ancestor that is known; the process itself where none is. */
const struct subject *process_tree_root(const struct process_tree *k, const struct subject *s);

#endif
