/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: the model as it was at the end of a window, kept while the live one goes on: what is drawn
 * between two looks, or while the view is paused, is drawn from it.
 */
#ifndef FS_MODEL_SNAPSHOT_H
#define FS_MODEL_SNAPSHOT_H

#include "model/model.h"

/*
 * Zero-initialise. `m` is for reading alone, by whatever reads a model; named stacks, symbols,
 * origins and slow faults are shared with the model it was taken of, which has to outlive it or its
 * next snapshot_take().
 */
struct snapshot {
	struct model m;
	char *room; /* owned: what `m` points to */
	size_t size, used;
};

/* In place of what was there. -ENOMEM, or -E2BIG beyond the cap: then it is empty. */
int snapshot_take(struct snapshot *s, const struct model *m);

/* What a process holds was read since: it is taken over. -ENOSPC: at the next snapshot. */
int snapshot_hold(struct snapshot *s, const struct model *m, const struct process_key *id);

void snapshot_free(struct snapshot *s);

#endif
