/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: all that a model knows, as records: what a recording begins with that is begun in the
 * middle of watching. Figures of its replay begin there, too.
 */
#ifndef FS_COLLECT_MODEL_RECORDS_H
#define FS_COLLECT_MODEL_RECORDS_H

#include "model/model.h"
#include "probe/recording.h"

/* 0, or what the recorder said. */
int retell(const struct model *m, struct recorder *rec);

#endif
