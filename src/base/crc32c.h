/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: CRC-32C (Castagnoli), as RFC 3720 has it. */
#ifndef FS_BASE_CRC32C_H
#define FS_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Begins with `crc` 0; goes on with what it returned. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
