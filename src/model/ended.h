/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: processes that have ended, as they were at their last record. The model drops a process
 * after the window in which it ended; a list of these keeps the latest ones, so that a reader can
 * still open them.
 */
#ifndef FS_MODEL_ENDED_H
#define FS_MODEL_ENDED_H

#include "model/model.h"

/* The processes are linked by `next_changed`, from the one that ended first to the latest. */
struct ended {
	struct subject *first, *last;
	size_t n, most;	  /* number of processes; at most `most` are kept */
	uint64_t dropped; /* number of processes that were dropped, the oldest ones first */
};

/* From now on, keeps the latest `most` ended processes. Returns 0 or -ENOMEM. */
int model_keep_ended(struct model *m, size_t most);

/*
 * Adds a process that the caller has removed from the table of the model. Returns the process that
 * the caller must free instead: the oldest one, or NULL.
 */
struct subject *ended_add(struct ended *e, struct subject *s);

/* Takes the oldest process from the list. Returns NULL if the list is empty. */
struct subject *ended_pop(struct ended *e);

/* Iterates over the ended processes, the oldest first. Start with NULL; returns NULL at the end. */
const struct subject *model_each_ended(const struct model *m, const struct subject *after);

/* Returns a process of the model, or else the ended process with this key, or NULL. */
const struct subject *model_find_any(const struct model *m, const struct process_key *id);

#endif
