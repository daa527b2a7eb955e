/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: CRC-32C (Castagnoli), RFC 3720. */
#ifndef FS_BASE_CRC32C_H
#define FS_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of `data`. `crc` is 0, or the CRC of the bytes before `data`. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
