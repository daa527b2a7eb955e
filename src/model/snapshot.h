/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: a copy of the model at the end of a window. The live view draws from it between two scans
 * and while it is paused, as the model continues to change.
 */
#ifndef FS_MODEL_SNAPSHOT_H
#define FS_MODEL_SNAPSHOT_H

#include "model/model.h"

/*
 * Initialise with zeros. `m` is read-only, for any code that reads a model. Stack names, symbols,
 * origins and slow faults belong to the original model, which must live until the next
 * snapshot_take() or snapshot_free().
 */
struct snapshot {
	struct model m;
	char *room; /* buffer with everything that `m` points to; owned */
	size_t size, used;
};

/* Replaces the snapshot. Returns -ENOMEM, or -E2BIG above the maximum; then `m` is empty. */
int snapshot_take(struct snapshot *s, const struct model *m);

/* Copies the holdings of a process that were read since. -ENOSPC: wait for a new snapshot. */
int snapshot_hold(struct snapshot *s, const struct model *m, const struct process_key *id);

void snapshot_free(struct snapshot *s);

#endif
