/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: converts the model (all that faultscope knows about the processes) to records. A
 * recording that begins while faultscope is already watching starts with these records.
 */
#ifndef FS_COLLECT_MODEL_RECORDS_H
#define FS_COLLECT_MODEL_RECORDS_H

#include "model/model.h"
#include "probe/source.h"

/*
 * Sends the model as the records of a scan, with its tick record at the end. Returns 0, or the
 * consumer's error.
 */
int retell(const struct model *m, const struct sink *sink);

#endif
