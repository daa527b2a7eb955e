/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: decides whether a user stack may be incomplete, and formats its frames. */
#ifndef FS_COLLECT_SYMBOLS_USER_STACK_H
#define FS_COLLECT_SYMBOLS_USER_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/symbols/user_symbols.h"

/*
 * Returns true unless the outermost function is known to begin a thread. A stack may be incomplete
 * because the kernel follows frame pointers, which some code lacks. `most` is the number of frames
 * of a full stack.
 */
bool user_stack_may_be_short(const struct user_symbol *frame, size_t n, size_t most);

/*
 * Formats a frame as the function's name, "libx.so+0x1234" or "[unknown]". Characters are not
 * escaped.
 */
void user_symbol_text(const struct user_symbol *s, char *ret, size_t size);

#endif
