/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: CRC-32C (Castagnoli), RFC 3720. */
#ifndef FS_BASE_CRC32C_H
#define FS_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Start with `crc` 0; to continue, pass the previous result. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
