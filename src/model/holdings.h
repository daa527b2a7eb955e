/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: what a process held when it was read, the most frequent sorts first. */
#ifndef FS_MODEL_HOLDINGS_H
#define FS_MODEL_HOLDINGS_H

#include "model/model.h"

#define HOLDINGS_MAX 64 /* sorts of one process and `what` */

/* For model_take.c alone. -ENOMEM; a process that is not known is passed over. */
int holdings_take(struct model *m, const struct holding_record *r);

const char *holding_kind_name(uint32_t kind);

#endif
