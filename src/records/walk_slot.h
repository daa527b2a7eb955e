/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* records: where struct walk_record has the frames of a stack. BPF programs include this file, too.
 */
#ifndef FS_RECORDS_WALK_SLOT_H
#define FS_RECORDS_WALK_SLOT_H

#include "records/record_kinds.h"

#define WALK_OUTER (WALK_FRAMES - WALK_INNER) /* a power of two that divides WALK_INNER */

/* Returns the index in struct walk_record of the frame with index i in the stack. */
static inline unsigned int walk_slot(unsigned int i)
{
	return i < WALK_INNER ? i : WALK_INNER + (i & (WALK_OUTER - 1));
}

/* Returns the index in the stack of the first frame after the frames that are left out. */
static inline unsigned int walk_first_outer(unsigned int frames)
{
	return frames > WALK_FRAMES ? frames - WALK_OUTER : WALK_INNER;
}

#endif
