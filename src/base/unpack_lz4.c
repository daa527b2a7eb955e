// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The formats are described in doc/lz4_Frame_format.md and doc/lz4_Block_format.md of LZ4. */
#include <string.h>

#include "base/unpack_out.h"

#define MAGIC	     0x184d2204u
#define MAGIC_LEGACY 0x184c2102u
#define SKIPPABLE    0x184d2a50u /* 16 values: frames without text */
#define RAW_BLOCK    0x80000000u
#define BLOCK_MOST   (8u << 20)

#define FLAG_VERSION	0xc0
#define FLAG_BLOCK_CRC	0x10
#define FLAG_SIZE	0x08
#define FLAG_CRC	0x04
#define FLAG_DICTIONARY 0x01

struct in {
	const unsigned char *at, *end;
};

static bool number_take(struct in *in, uint32_t *ret)
{
	if (in->end - in->at < 4)
		return false;
	*ret = in->at[0] | in->at[1] << 8 | in->at[2] << 16 | (uint32_t)in->at[3] << 24;
	in->at += 4;
	return true;
}

/* Adds the bytes that follow a length of 15: 255 means that another byte follows. */
static bool length_take(struct in *in, size_t *length)
{
	if (*length != 15)
		return true;
	while (in->at < in->end) {
		*length += *in->at;
		if (*in->at++ != 255)
			return true;
	}
	return false;
}

/* Copies bytes of the output that are `back` bytes before its end. They may overlap. */
static bool match_copy(struct unpack_out *o, size_t back, size_t n)
{
	if (!back || back > o->size)
		return false;
	while (n--) {
		char c = o->data[o->size - back];

		if (!unpack_add(o, &c, 1))
			return false;
	}
	return true;
}

static bool block_decode(struct in in, struct unpack_out *o)
{
	while (in.at < in.end) {
		unsigned char token = *in.at++;
		size_t literals = token >> 4, match = token & 15, back;

		if (!length_take(&in, &literals) || (size_t)(in.end - in.at) < literals ||
		    !unpack_add(o, (const char *)in.at, literals))
			return false;
		in.at += literals;
		if (in.at == in.end) /* the last sequence has only literals */
			return true;
		if (in.end - in.at < 2)
			return false;
		back = in.at[0] | in.at[1] << 8;
		in.at += 2;
		if (!length_take(&in, &match) || !match_copy(o, back, match + 4))
			return false;
	}
	return true;
}

/* Decodes the blocks of a frame. Returns whether the frame is whole. */
static bool blocks_decode(struct in *in, unsigned char flags, bool legacy, struct unpack_out *o)
{
	uint32_t size, unused;

	for (;;) {
		bool raw;
		struct in block;

		if (legacy && in->at == in->end)
			return true;
		if (!number_take(in, &size))
			return false;
		if (!size && !legacy)
			break;
		if (legacy && (size == MAGIC_LEGACY || size == MAGIC)) {
			in->at -= 4;
			return true;
		}
		raw = !legacy && (size & RAW_BLOCK);
		size &= ~RAW_BLOCK;
		if (size > BLOCK_MOST + BLOCK_MOST / 255 + 16 || (size_t)(in->end - in->at) < size)
			return false;
		block = (struct in){in->at, in->at + size};
		if (raw ? !unpack_add(o, (const char *)in->at, size) : !block_decode(block, o))
			return false;
		in->at += size;
		if ((flags & FLAG_BLOCK_CRC) && !number_take(in, &unused))
			return false;
	}
	return !(flags & FLAG_CRC) || number_take(in, &unused);
}

/* Decodes a frame. Returns whether it is whole, so that another one may follow. */
static bool frame_decode(struct in *in, struct unpack_out *o)
{
	uint32_t magic, size;
	unsigned char flags;
	size_t head;

	if (!number_take(in, &magic))
		return false;
	if ((magic & ~15u) == SKIPPABLE) {
		if (!number_take(in, &size) || (size_t)(in->end - in->at) < size)
			return false;
		in->at += size;
		return true;
	}
	if (magic == MAGIC_LEGACY)
		return blocks_decode(in, 0, true, o);
	if (magic != MAGIC || in->end - in->at < 3)
		return false;
	flags = *in->at;
	head = 3 + (flags & FLAG_SIZE ? 8 : 0) + (flags & FLAG_DICTIONARY ? 4 : 0);
	if ((flags & FLAG_VERSION) != 0x40 || (size_t)(in->end - in->at) < head)
		return false;
	in->at += head;
	return blocks_decode(in, flags, false, o);
}

int unlz4_all(const char *data, size_t n, struct unpack_out *o)
{
	struct in in = {(const unsigned char *)data, (const unsigned char *)data + n};
	bool whole = true;

	while (whole && in.at < in.end)
		whole = frame_decode(&in, o);
	o->partial = !whole;
	return 0;
}
