/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: offsets in the data structures of CPython, by version or from the interpreter's own
 * table.
 */
#ifndef FS_UNWIND_PYTHON_OFFSETS_H
#define FS_UNWIND_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>

#include "wire_python.h"

#define PYTHON_TABLE_WORDS 128 /* number of words of an interpreter's table that are read */

/*
 * Fills in the offsets of CPython 3.N up to 3.12. The fields key_at and interpreters_at are offsets
 * in _PyRuntime. Returns false if the version is not supported.
 */
bool python_offsets_by_version(unsigned int minor, struct fs_python *ret);

/*
 * Fills in the offsets of CPython 3.13 or later from the words at the start of _PyRuntime. Returns
 * false if they are no table of a supported version.
 */
bool python_offsets_by_table(const __u64 *word, size_t words, struct fs_python *ret);

#endif
