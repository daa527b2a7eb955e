/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: names of C++ and Rust functions as their authors wrote them. */
#ifndef FS_COLLECT_SYMBOLS_DEMANGLE_H
#define FS_COLLECT_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* Past so much text a name is no name but a bomb: a few bytes that stand for exponentially many. */
#define DEMANGLE_TEXT_BYTES (64u << 10)

/*
 * Without parameters, cut to what there is room for. Returns 0, -EINVAL where it is no such name,
 * -E2BIG for a bomb (what memory the demangler held then stays lost, so do not ask again for names
 * of the same file).
 */
int demangle(const char *name, char *ret, size_t size);

#endif
