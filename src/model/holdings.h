/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: the mappings and fds of a process when they were read, most frequent kinds first. */
#ifndef FS_MODEL_HOLDINGS_H
#define FS_MODEL_HOLDINGS_H

#include "model/model.h"

#define HOLDINGS_MAX 64 /* maximum number of kinds of mappings or fds per process */

/* Stores a record, for model_take.c; ignores unknown processes. Returns 0 or -ENOMEM. */
int holdings_take(struct model *m, const struct holding_record *r);

const char *holding_kind_name(uint32_t kind);

#endif
