/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: what the names of a user stack's frames say of the whole. */
#ifndef FS_COLLECT_SYMBOLS_USER_STACK_H
#define FS_COLLECT_SYMBOLS_USER_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "collect/symbols/user_symbols.h"

/*
 * The kernel follows frame pointers; code without them ends the chain, or leads it astray. True
 * unless the outermost frame is one that threads begin with. `most`: frames that a stack can have.
 */
bool user_stack_may_be_short(const struct user_symbol *frame, size_t n, size_t most);

/*
 * One name to group by and to show: the function's, else "libx.so+0x1234", else "[unknown]". As it
 * came, not escaped.
 */
void user_symbol_text(const struct user_symbol *s, char *ret, size_t size);

#endif
