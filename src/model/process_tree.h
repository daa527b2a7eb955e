/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: finds parents and ancestors of processes. */
#ifndef FS_MODEL_PROCESS_TREE_H
#define FS_MODEL_PROCESS_TREE_H

#include "model/model.h"

/* Processes and their parents; invalid once the model takes another record. */
struct process_tree {
	const struct subject **by_pid; /* processes by pid, then by start time; owned */
	size_t n;
};

/* Returns 0 or -ENOMEM. Call process_tree_free() even after an error. */
int process_tree_of(const struct model *m, struct process_tree *ret);
void process_tree_free(struct process_tree *k);

/*
 * Returns the parent of a process, or NULL if it is not known, for example because it is not
 * watched.
 */
const struct subject *process_tree_parent(const struct process_tree *k, const struct subject *s);

/* Returns the most distant known ancestor of a process, or the process itself. */
const struct subject *process_tree_root(const struct process_tree *k, const struct subject *s);

#endif
