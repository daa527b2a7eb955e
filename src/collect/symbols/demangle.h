/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: demangles names of C++ and Rust functions. */
#ifndef FS_COLLECT_SYMBOLS_DEMANGLE_H
#define FS_COLLECT_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* A name with more text than this is malicious: a few bytes may stand for exponentially many. */
#define DEMANGLE_TEXT_BYTES (64u << 10)

/*
 * Demangles a name, without parameters, cut to `size`. Returns 0, -EINVAL if the name is not
 * mangled, or -E2BIG if it is malicious: the demangler's memory is then leaked, so do not demangle
 * further names of its file.
 */
int demangle(const char *name, char *ret, size_t size);

#endif
