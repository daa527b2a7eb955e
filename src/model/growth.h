/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: stores records of growth, of named user stacks and of limit origins. For model_take.c. */
#ifndef FS_MODEL_GROWTH_H
#define FS_MODEL_GROWTH_H

#include "model/model.h"

/* Return 0 or -ENOMEM. Ignore rows above the maximum, which a hostile file may have. */
int growth_take(struct model *m, const struct growth_record *r);
int growth_take_frames(struct model *m, const struct frames_record *r);
int growth_take_origin(struct model *m, const struct origin_record *r);
void growth_free(struct model *m);

#endif
