// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/python/python_lines.h"

#include <stdbool.h>

#define NO_LINE	   (-128)
#define UNIT_BYTES 2 /* bytes of an instruction */

/* Decodes a line table up to CPython 3.9: pairs of address step and line step. */
static __u32 line_of_steps(const struct python_lines *l, __u64 offset)
{
	__u64 at = 0;
	__s64 line = l->first_line;

	for (size_t i = 0; i + 1 < l->bytes; i += 2) {
		at += l->table[i];
		if (at > offset)
			break;
		line += (__s8)l->table[i + 1];
	}
	return line;
}

/* Decodes a line table of CPython 3.10: pairs of range length and line step. */
static __u32 line_of_ranges(const struct python_lines *l, __u64 offset)
{
	__u64 end = 0;
	__s64 line = l->first_line;

	for (size_t i = 0; i + 1 < l->bytes; i += 2) {
		__s8 step = l->table[i + 1];

		end += l->table[i];
		if (step != NO_LINE)
			line += step;
		if (offset < end)
			return step == NO_LINE ? 0 : line;
	}
	return 0;
}

/* Decodes a number with 6 bits per byte, lowest bits first. */
static __u64 take_number(const struct python_lines *l, size_t *at)
{
	__u64 n = 0;

	for (unsigned int shift = 0; *at < l->bytes; shift += 6) {
		__u8 byte = l->table[(*at)++];

		n |= (__u64)(byte & 0x3f) << (shift & 63);
		if (!(byte & 0x40))
			break;
	}
	return n;
}

static __s64 take_signed(const struct python_lines *l, size_t *at)
{
	__u64 n = take_number(l, at);

	return n & 1 ? -(__s64)(n >> 1) : (__s64)(n >> 1);
}

/*
 * The kinds of entries in line tables since CPython 3.11, which say how lines and columns are
 * encoded.
 */
enum position {
	POSITION_SAME_LINE = 10,
	POSITION_NEXT_LINE = 11,
	POSITION_LINE_AFTER = 12,
	POSITION_NO_COLUMNS = 13,
	POSITION_LONG = 14,
	POSITION_NONE = 15,
};

/* Decodes the line step of an entry, after its first byte. */
static __s64 take_step(const struct python_lines *l, unsigned int kind, size_t *at)
{
	if (kind == POSITION_LONG || kind == POSITION_NO_COLUMNS)
		return take_signed(l, at);
	switch (kind) {
	case POSITION_SAME_LINE:
	case POSITION_NEXT_LINE:
	case POSITION_LINE_AFTER:
		return kind - POSITION_SAME_LINE;
	}
	return 0;
}

static __u32 line_of_positions(const struct python_lines *l, __u64 offset)
{
	__s64 line = l->first_line;
	__u64 end = 0;

	for (size_t at = 0; at < l->bytes;) {
		__u8 first = l->table[at++];
		unsigned int kind = first >> 3 & 15;

		line += take_step(l, kind, &at);
		/* the first byte of an entry has the highest bit set; no other byte has */
		while (at < l->bytes && !(l->table[at] & 0x80))
			at++;
		end += ((first & 7) + 1) * UNIT_BYTES;
		if (offset < end)
			return kind == POSITION_NONE ? 0 : line;
	}
	return 0;
}

__u32 python_line(const struct python_lines *l, __u64 offset)
{
	switch (l->minor) {
	case 8:
	case 9:
		return line_of_steps(l, offset);
	case 10:
		return line_of_ranges(l, offset);
	}
	return line_of_positions(l, offset);
}
