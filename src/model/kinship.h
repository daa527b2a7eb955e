/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: who is whose child, among the processes that are known. */
#ifndef FS_MODEL_KINSHIP_H
#define FS_MODEL_KINSHIP_H

#include "model/model.h"

/* Holds until the model takes another record. */
struct kinship {
	const struct subject **by_pid; /* and birth; owned */
	size_t n;
};

/* -ENOMEM. kinship_free() in any case. */
int kinship_of(const struct model *m, struct kinship *ret);
void kinship_free(struct kinship *k);

/* NULL where it is not known: it is not watched. */
const struct subject *kinship_parent(const struct kinship *k, const struct subject *s);

/* The farthest ancestor that is known; the process itself where none is. */
const struct subject *kinship_root(const struct kinship *k, const struct subject *s);

#endif
