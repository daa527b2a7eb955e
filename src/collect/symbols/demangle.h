/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* collect: demangles names of C++ and Rust functions. */
#ifndef FS_COLLECT_SYMBOLS_DEMANGLE_H
#define FS_COLLECT_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* A longer demangled name is malicious: a few mangled bytes may expand exponentially. */
#define DEMANGLE_TEXT_BYTES (64u << 10)

/*
 * Demangles a function name, without parameters, and cuts it to `size` bytes. Returns 0, -EINVAL if
 * the name is not mangled, or -E2BIG if the name is malicious. After -E2BIG, memory of the
 * demangler is leaked: demangle no further names of this file.
 */
int demangle(const char *name, char *ret, size_t size);

#endif
