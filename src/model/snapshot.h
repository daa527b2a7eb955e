/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: a copy of the model at the end of a window. The live view shows the copy between two scans
 * and while it is paused, because the model itself continues to change.
 */
#ifndef FS_MODEL_SNAPSHOT_H
#define FS_MODEL_SNAPSHOT_H

#include "model/model.h"

/*
 * A snapshot; initialise with zeros. `m` is a read-only model. Stack names, symbols, limit origins
 * and slow faults belong to the original model, which must live until the next snapshot_take() or
 * snapshot_free().
 */
struct snapshot {
	struct model m;
	char *room; /* buffer with everything that `m` points to; owned */
	size_t size, used;
};

/* Replaces a snapshot. Returns 0, -ENOMEM, or -E2BIG if too large; on error, `m` is empty. */
int snapshot_take(struct snapshot *s, const struct model *m);

/*
 * Copies the mappings and fds of a process, which were read after the snapshot was taken. Returns
 * -ENOSPC if a new snapshot is needed.
 */
int snapshot_hold(struct snapshot *s, const struct model *m, const struct process_key *id);

void snapshot_free(struct snapshot *s);

#endif
