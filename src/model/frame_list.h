/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: the frames of a stack, with function, file, line and module. */
#ifndef FS_MODEL_FRAME_LIST_H
#define FS_MODEL_FRAME_LIST_H

#include "model/model.h"

/* A frame of a stack. A text is NULL if it is not known. */
struct user_frame {
	const char *function, *file, *module;
	uint64_t offset; /* as in struct frame_facts */
	uint32_t line;	 /* 0: not known */
	uint8_t kind;	 /* enum frame_kind */
	uint8_t flags;	 /* FRAME_INLINED, FRAME_USER */
};

/* Adds the frames of a record to its stack. Returns 0 or -ENOMEM. */
int frame_list_take(struct model *m, const struct frame_list_record *r);

/*
 * Returns the number of frames of a stack, and the frame with an index; 0 is the innermost. The
 * number is 0 for NULL, and for stacks in recordings of older versions of faultscope.
 */
size_t frame_list_count(const struct frames *f);
const struct user_frame *frame_list_at(const struct frames *f, size_t i);

/* Returns the name of a kind of frame, such as "native". */
const char *frame_kind_name(const struct user_frame *f);

void frame_list_free(struct frame_list *l);

#endif
