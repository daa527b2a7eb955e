// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/crc32c.h"

#define POLYNOMIAL 0x82f63b78u /* the polynomial 0x1edc6f41 in reversed bit order */

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (size--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (POLYNOMIAL & -(crc & 1));
	}
	return ~crc;
}
