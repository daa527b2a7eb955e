/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: demangles names of C++ and Rust functions. */
#ifndef FS_COLLECT_SYMBOLS_DEMANGLE_H
#define FS_COLLECT_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* A longer demangled name is malicious: a few mangled bytes may expand exponentially. */
#define DEMANGLE_TEXT_BYTES (64u << 10)

/*
 * Demangles a function name, without parameters, cut to `size` bytes. Returns 0, -EINVAL if the
 * name is not mangled, or -E2BIG if it is malicious. After -E2BIG, the demangler's memory is
 * leaked: do not demangle further names of the file.
 */
int demangle(const char *name, char *ret, size_t size);

#endif
