// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Replaces pack_libraries.c in static builds, in builds for another architecture and in fuzzers,
 * which are linked with the libraries.
 */
#include "base/pack_libraries.h"

#if __has_include(<zstd.h>)
#define HAVE_ZSTD 1
#else
#define HAVE_ZSTD 0
#endif

bool pack_library_load(enum packing packing)
{
	return packing != PACKING_ZSTD || HAVE_ZSTD;
}
