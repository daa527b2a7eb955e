/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records: which CPython frames of a deep stack a walk keeps, and where. These are the innermost
 * and the outermost frames. In between, frames are lost, except for the first one of these that
 * ends a run of frames, which is kept at PYTHON_RUN_END.
 */
#ifndef FS_RECORDS_PYTHON_SLOTS_H
#define FS_RECORDS_PYTHON_SLOTS_H

#include "records/record_kinds.h"

#define PYTHON_RUN_END 96		    /* index of the last of the innermost frames */
#define PYTHON_OUTER   (PYTHON_RUN_END + 1) /* index from which the outermost frames are stored */
#define PYTHON_OUTERS  (WALK_PYTHON - PYTHON_OUTER)

/* Returns the index of the frame at this depth. The outermost frames replace each other. */
static inline __u32 python_slot(__u32 depth)
{
	if (depth >= WALK_PYTHON)
		return PYTHON_OUTER + (depth - PYTHON_OUTER) % PYTHON_OUTERS;
	return depth;
}

/* Returns the number of frames that a walk of this depth keeps. */
static inline __u32 python_kept(__u32 depth)
{
	return depth < WALK_PYTHON ? depth : WALK_PYTHON;
}

/* Returns the index of the i-th frame that a walk of this depth keeps, innermost first. */
static inline __u32 python_kept_slot(__u32 depth, __u32 i)
{
	return python_slot(depth > WALK_PYTHON && i >= PYTHON_OUTER ? depth - WALK_PYTHON + i : i);
}

#endif
