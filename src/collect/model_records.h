/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: converts the model (all that faultscope knows about the processes) to records. A
 * recording that begins while faultscope is already watching starts with these records.
 */
#ifndef FS_COLLECT_MODEL_RECORDS_H
#define FS_COLLECT_MODEL_RECORDS_H

#include "model/model.h"
#include "probe/recording.h"

/* Writes the model as records to the recorder. Returns 0, or the recorder's error. */
int retell(const struct model *m, struct recorder *rec);

#endif
