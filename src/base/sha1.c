// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t rotate(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static void block_take(uint32_t h[5], const uint8_t *p)
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 |
		       p[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f, k, next;

		if (i < 20)
			f = (b & c) | (~b & d), k = 0x5a827999;
		else if (i < 40)
			f = b ^ c ^ d, k = 0x6ed9eba1;
		else if (i < 60)
			f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
		else
			f = b ^ c ^ d, k = 0xca62c1d6;
		next = rotate(a, 5) + f + e + k + w[i];
		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

void sha1_hex(const void *data, size_t len, char ret[SHA1_HEX_LEN])
{
	uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	const uint8_t *p = data;
	uint8_t last[128] = {};
	size_t left = len % 64, tail = left < 56 ? 64 : 128;
	uint64_t bits = (uint64_t)len * 8;

	for (size_t at = 0; at + 64 <= len; at += 64)
		block_take(h, p + at);
	if (left)
		memcpy(last, p + len - left, left);
	last[left] = 0x80;
	for (int i = 0; i < 8; i++)
		last[tail - 1 - i] = bits >> (8 * i);
	for (size_t at = 0; at < tail; at += 64)
		block_take(h, last + at);
	for (int i = 0; i < 5; i++)
		snprintf(ret + 8 * i, 9, "%08x", h[i]);
}
