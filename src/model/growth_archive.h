/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: keeps rows of growth whose entry in the kernel side's table was reused. They follow the
 * entries in `model.growth`; rows of one process, stack, call and name are merged.
 */
#ifndef FS_MODEL_GROWTH_ARCHIVE_H
#define FS_MODEL_GROWTH_ARCHIVE_H

#include "model/model.h"

#define MODEL_GROWTH_MAX (5 * GROWTH_MAX) /* the entries, and four times as many archived rows */

/*
 * Archives a copy of a row. The row must not be in the model, whose rows may move. Without room,
 * rows of ended processes are dropped, else this row; dropped rows that had grown are counted in
 * `growth_lost`. Returns 0 or -ENOMEM.
 */
int growth_archive(struct model *m, const struct growth *row);

#endif
