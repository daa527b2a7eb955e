/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: merges Python frames into the native stack, in place of the native frames that run them.
 */
#ifndef FS_COLLECT_PYTHON_PYTHON_MERGE_H
#define FS_COLLECT_PYTHON_PYTHON_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include "records/records.h"

struct merged_frame {
	enum merged_kind {
		MERGED_NATIVE,
		MERGED_PYTHON,
		MERGED_GAP, /* Python frames are missing here */
	} kind;
	__u16 at; /* index into the Python frames or into the native frames */
};

#define MERGED_MAX (WALK_FRAMES + WALK_PYTHON + 2) /* there are at most two gaps */

struct python_merge {
	struct merged_frame frame[MERGED_MAX]; /* innermost first */
	size_t n;
	/* indices of the native frames that run the innermost and the outermost Python frame */
	size_t first_host, last_host;
	bool has_python;
	bool unsure; /* true: for a run of Python frames, no native frame was found that runs it */
};

/*
 * Merges Python frames and native frames. `runs_python` is a bit set of the native frames whose
 * function is the interpreter's loop. Such a native frame is replaced by the Python frames that it
 * runs.
 */
void python_merge(const struct walk_record *r, const __u64 runs_python[WALK_FRAMES / 64],
		  struct python_merge *ret);

#endif
