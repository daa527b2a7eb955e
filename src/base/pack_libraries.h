/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: loads the libraries of compressed formats that few commands read. */
#ifndef FS_BASE_PACK_LIBRARIES_H
#define FS_BASE_PACK_LIBRARIES_H

#include <stdbool.h>

#include "base/compress.h"

/*
 * Loads the library of a format. Call it before any function of liblzma, libbz2, liblz4 or libzstd.
 * Returns false if the library or one of its functions is missing, or if the program was built
 * without it. zlib needs no call, since the program is linked with it.
 */
bool pack_library_load(enum packing packing);

#endif
