/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: puts the frames of a walked stack in order. */
#ifndef FS_COLLECT_PYTHON_WALK_ORDER_H
#define FS_COLLECT_PYTHON_WALK_ORDER_H

#include <stddef.h>

#include "records/records.h"

/*
 * Copies a stack to `ret`, with its native frames in order: the innermost frames, then the
 * outermost ones. Returns the index of the first frame after the frames that are left out; 0: none
 * are left out.
 */
size_t walk_order(const struct walk_record *r, struct walk_record *ret);

#endif
