/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: writes the frames of a stack as records with function, file, line and module. */
#ifndef FS_COLLECT_SYMBOLS_FRAME_LISTER_H
#define FS_COLLECT_SYMBOLS_FRAME_LISTER_H

#include "collect/symbols/user_symbols.h"
#include "probe/source.h"

/* A frame to be listed. A text that is NULL or empty is not known. */
struct listed_frame {
	const char *function;
	const char *file;
	const char *module;
	__u64 offset; /* as in struct frame_facts */
	__u32 line;
	__u8 kind;  /* enum frame_kind */
	__u8 flags; /* FRAME_INLINED, FRAME_USER */
};

/* A frame in the code of a file, and its index in the stack. */
struct frame_code {
	__u32 index;
	struct user_code code;
};

struct frame_lister {
	const struct sink *sink;
	struct frame_list_record r; /* the frames that were not sent yet */
	size_t used;		    /* number of bytes in r.texts */
	__u16 lines;		    /* number of lines in r.texts */
	__u32 sent;		    /* number of frames that were sent */
	int err;		    /* first error of the sink */
	struct frame_code code[WALK_FRAMES];
	size_t nr_code;
};

/* Begins the list of a stack. The list replaces an earlier list of this stack. */
void frame_lister_begin(struct frame_lister *l, const struct sink *sink, __u64 t_ns,
			const struct process_key *subject, __s32 stack);

/* Adds the next frame. The innermost frame is added first. */
void frame_lister_add(struct frame_lister *l, const struct listed_frame *f);

/* Adds a frame of native code, or of code that was generated at run time. */
void frame_lister_add_symbol(struct frame_lister *l, const struct user_symbol *s);

/* Sends the remaining frames. Returns 0, or the first error of the sink. */
int frame_lister_end(struct frame_lister *l);

#endif
