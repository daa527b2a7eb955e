/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: who grows, the named frames of user stacks, and where limits come from: what is taken as
 * it comes. For model_take.c alone.
 */
#ifndef FS_MODEL_GROWTH_H
#define FS_MODEL_GROWTH_H

#include "model/model.h"

/* -ENOMEM. What a hostile file numbers beyond the tables is passed over. */
int growth_take(struct model *m, const struct growth_record *r);
int growth_take_frames(struct model *m, const struct frames_record *r);
int growth_take_origin(struct model *m, const struct origin_record *r);
void growth_free(struct model *m);

#endif
