/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: converts a model to records. They start a recording that begins while faultscope already
 * watches; values of its replay start there too.
 */
#ifndef FS_COLLECT_MODEL_RECORDS_H
#define FS_COLLECT_MODEL_RECORDS_H

#include "model/model.h"
#include "probe/recording.h"

/* Returns 0, or what the recorder returns. */
int retell(const struct model *m, struct recorder *rec);

#endif
