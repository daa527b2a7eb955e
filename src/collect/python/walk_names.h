/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * collect: names the native frames and the Python frames of a stack that was walked with unwind
 * tables.
 */
#ifndef FS_COLLECT_PYTHON_WALK_NAMES_H
#define FS_COLLECT_PYTHON_WALK_NAMES_H

#include "collect/python/python_codes.h"
#include "collect/python/python_merge.h"
#include "collect/symbols/frame_lister.h"
#include "collect/symbols/user_symbols.h"

/*
 * Finds the file and the offset in it that an address had when the stack was walked. Returns false
 * if no file with a build ID is known for the address.
 */
typedef bool walk_place_fn(void *ctx, __u32 generation, __u64 ip, __u8 *ret_build_id,
			   __u64 *ret_offset);

/* Working memory for naming a walk; it is too large for the stack. */
struct walk_names {
	walk_place_fn *place; /* finds file and offset of an address; NULL: not available */
	void *ctx;
	struct walk_record ordered; /* the stack with its frames in order */
	size_t gap;		    /* index of the first frame after a gap; 0: no gap */
	struct user_symbol native[WALK_FRAMES];
	struct python_merge merge;
	size_t first_untold; /* the interpreter's own frames from here on are left out */
};

/* Names a walk, and fills in the text, the flags and the user's line of a frames record. */
void walk_names_fill(struct walk_names *w, struct user_symbols *us, struct python_codes *codes,
		     const struct walk_record *r, struct frames_record *ret);

/* Lists the frames of the walk that walk_names_fill() named last. */
void walk_names_list(const struct walk_names *w, struct python_codes *codes,
		     struct frame_lister *to);

/* Appends a frame to the text of a record. Returns false if the text is full. */
bool walk_names_add(struct frames_record *r, size_t *at, const struct user_symbol *s);

#endif
