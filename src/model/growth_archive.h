/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model: keeps old rows of growth after the kernel side has reused their table entries. The rows
 * are stored behind the entries in `model.growth`. Rows of one process, stack, call and name are
 * merged.
 */
#ifndef FS_MODEL_GROWTH_ARCHIVE_H
#define FS_MODEL_GROWTH_ARCHIVE_H

#include "model/model.h"

#define MODEL_GROWTH_MAX (5 * GROWTH_MAX) /* maximum number of rows, including archived ones */

/*
 * Archives a copy of a row. `row` must not point into model.growth, which may be reallocated. If
 * there is no room, drops rows of exited processes; if there are none, drops the new row. Dropped
 * rows with remaining growth are counted in `growth_lost`. Returns 0 or -ENOMEM.
 */
int growth_archive(struct model *m, const struct growth *row);

#endif
