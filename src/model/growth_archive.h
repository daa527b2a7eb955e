/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: rows of growth whose place in the kernel side's table is another row's by now. They stand
 * behind the places in `model.growth`; rows of one process, stack, call and name are one.
 */
#ifndef FS_MODEL_GROWTH_ARCHIVE_H
#define FS_MODEL_GROWTH_ARCHIVE_H

#include "model/model.h"

#define MODEL_GROWTH_MAX (5 * GROWTH_MAX) /* the places, and four times as many behind them */

/*
 * Keeps a copy of a row, which must not be one of the model's: these may move. Where there is no
 * room, rows of ended processes are dropped, else this one; those that had grown are counted in
 * `growth_lost`. Returns 0 or -ENOMEM.
 */
int growth_archive(struct model *m, const struct growth *row);

#endif
