// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/pack_libraries.h"

#include <stddef.h>

#include "base/lazy_library.h"

/* clang-format off */
#define LZMA_FUNCTIONS(X) \
	X(lzma_auto_decoder) X(lzma_code) X(lzma_end)

#define BZ2_FUNCTIONS(X) \
	X(BZ2_bzDecompress) X(BZ2_bzDecompressEnd) X(BZ2_bzDecompressInit)

#define LZ4_FUNCTIONS(X) \
	X(LZ4F_createDecompressionContext) X(LZ4F_decompress) X(LZ4F_freeDecompressionContext) \
	X(LZ4F_isError) X(LZ4_decompress_safe)

#define ZSTD_FUNCTIONS(X) \
	X(ZSTD_createDStream) X(ZSTD_decompressStream) X(ZSTD_freeDStream) X(ZSTD_isError)
/* clang-format on */

LAZY_FUNCTIONS(LZMA_FUNCTIONS)
LAZY_FUNCTIONS(BZ2_FUNCTIONS)
LAZY_FUNCTIONS(LZ4_FUNCTIONS)
#ifdef SONAME_ZSTD
LAZY_FUNCTIONS(ZSTD_FUNCTIONS)
#endif

bool pack_library_load(enum packing packing)
{
	static const struct lazy_function lzma[] = {LZMA_FUNCTIONS(LAZY_ROW){}};
	static const struct lazy_function bz2[] = {BZ2_FUNCTIONS(LAZY_ROW){}};
	static const struct lazy_function lz4[] = {LZ4_FUNCTIONS(LAZY_ROW){}};
#ifdef SONAME_ZSTD
	static const struct lazy_function zstd[] = {ZSTD_FUNCTIONS(LAZY_ROW){}};
#endif

	switch (packing) {
	case PACKING_XZ:
		return !lazy_load(SONAME_LZMA, lzma);
	case PACKING_BZIP2:
		return !lazy_load(SONAME_BZ2, bz2);
	case PACKING_LZ4:
		return !lazy_load(SONAME_LZ4, lz4);
	case PACKING_ZSTD:
#ifdef SONAME_ZSTD
		return !lazy_load(SONAME_ZSTD, zstd);
#else
		return false;
#endif
	default:
		return true;
	}
}
