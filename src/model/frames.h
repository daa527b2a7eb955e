/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* model: selects the frames that identify a stack best. */
#ifndef FS_MODEL_FRAMES_H
#define FS_MODEL_FRAMES_H

#include "model/frame_list.h"

#define FRAME_TEXT_BYTES 512

/* Returns the number of frames of a stack. */
size_t frames_count(const struct frames *f);

/*
 * Writes the text of a frame, such as "load_sample (train.py:57)", "mmap (libc.so.6)" or
 * "libx.so+0x1234". Frame 0 is the innermost.
 */
void frames_show(const struct frames *f, size_t i, char *ret, size_t size);

/*
 * Writes where the code of a frame is: "/srv/train.py:57" or "libc.so.6+0x1234". Writes an empty
 * string if that is not known.
 */
void frames_show_place(const struct frames *f, size_t i, char *ret, size_t size);

/*
 * Returns whether a frame is in the C library, in an allocator, or in the standard library of C++,
 * Rust or Go. Code of a standard library may be compiled into the program.
 */
bool frames_are_library(const struct frames *f, size_t i);

/*
 * Selects the innermost frames, up to `room`, and stores their indices in *ret. Selects no code of
 * a standard library that is compiled into the program, unless it is the innermost frame. In stacks
 * of C++ and Rust, such code is selected again behind the first frame of the program's own code.
 * Returns the number of frames. Sets *ret_more if more frames exist.
 */
size_t frames_telling(const struct frames *f, size_t *ret, size_t room, bool *ret_more);

/* Returns whether the code of a frame is inlined into its caller, as far as this is known. */
bool frames_is_inlined(const struct frames *f, size_t i);

/* Returns whether a frame of the stack has neither a function nor a module. */
bool frames_have_unknown(const struct frames *f);

/*
 * Returns the place where the user's code called the library code that called the user's line, such
 * as "train.py:19 main", written to a buffer of at least USER_LINE_BYTES. For a worker of a PyTorch
 * DataLoader, this is the loop over the DataLoader. Returns NULL if there is no such place.
 */
#define USER_LINE_BYTES sizeof(((struct frames *)0)->user_line)
const char *frames_user_caller(const struct frames *f, char *ret, size_t size);

/*
 * Writes how the text of a stack begins: "train.py:57 load (called from train.py:19 main): ". Empty
 * if there is no user's line.
 */
#define FRAMES_USER_BYTES (2 * USER_LINE_BYTES + 32)
const char *frames_user_text(const struct frames *f, char *ret, size_t size);

/*
 * Returns what a stack lacks: " (no names: REASON)" or " (stack may be short: REASON)", written to
 * a buffer of at least FRAMES_END_BYTES; an empty string for a whole stack with names.
 */
#define FRAMES_END_BYTES 128
const char *frames_end_text(const struct frames *f, char *ret, size_t size);

/*
 * Returns the name of the reason why a walk with unwind tables ended, such as "gap"; NULL: the
 * stack was not walked with tables.
 */
const char *stack_end_name(uint32_t end);

#endif
