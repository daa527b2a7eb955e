// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Decodes bzip2: a stream has blocks; a block is run-length coded, sorted (Burrows-Wheeler),
 * move-to-front coded and Huffman coded. Checksums are not compared: a damaged log is still read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/unpack_out.h"

#define BLOCK_UNIT  100000 /* bytes of a block, times the level 1 to 9 in the header */
#define BLOCK_MAGIC 0x314159265359ull
#define END_MAGIC   0x177245385090ull
#define SYMBOLS	    258
#define TABLES	    6
#define GROUP	    50 /* symbols that are coded with one table */
#define CODE_MOST   20 /* bits of a code */
#define SELECTORS   18002
#define RUN_MOST    (2u << 20)

struct table {
	uint16_t symbol[SYMBOLS]; /* sorted by length of the code */
	uint32_t first[CODE_MOST + 2], count[CODE_MOST + 2], offset[CODE_MOST + 2];
};

struct bits {
	const unsigned char *data;
	size_t at, end; /* in bits */
};

struct block {
	uint32_t *next; /* bytes in the low 8 bits, links in the others */
	uint32_t size, most;
	unsigned char selector[SELECTORS];
	struct table table[TABLES];
	unsigned char used[256];
	int alphabet; /* number of symbols, with the two run symbols and the end */
};

/* Returns bits of the input, or -1 at its end. */
static int64_t bits_take(struct bits *b, int n)
{
	uint64_t value = 0;

	if (b->end - b->at < (size_t)n)
		return -1;
	for (; n; n--, b->at++)
		value = value << 1 | (b->data[b->at >> 3] >> (7 - (b->at & 7)) & 1);
	return value;
}

static bool symbols_take(struct bits *b, struct block *k)
{
	int64_t groups = bits_take(b, 16);
	int used = 0;

	for (int i = 0; i < 16 && groups >= 0; i++) {
		int64_t some = groups >> (15 - i) & 1 ? bits_take(b, 16) : 0;

		if (some < 0)
			return false;
		for (int j = 0; j < 16; j++)
			if (some >> (15 - j) & 1)
				k->used[used++] = i * 16 + j;
	}
	k->alphabet = used + 2;
	return groups >= 0 && used;
}

static bool selectors_take(struct bits *b, struct block *k, int tables, int64_t selectors)
{
	unsigned char order[TABLES] = {0, 1, 2, 3, 4, 5};

	for (int64_t i = 0; i < selectors; i++) {
		unsigned char chosen;
		int64_t bit;
		int at = 0;

		while ((bit = bits_take(b, 1)) == 1)
			if (++at >= tables)
				return false;
		if (bit < 0)
			return false;
		chosen = order[at];
		memmove(order + 1, order, at);
		order[0] = chosen;
		if (i < SELECTORS)
			k->selector[i] = chosen;
	}
	return true;
}

/* Makes a table of canonical Huffman codes from the lengths of the codes. */
static void table_make(struct table *t, const unsigned char *length, int alphabet)
{
	uint32_t code = 0, at = 0;

	memset(t, 0, sizeof(*t));
	for (int bits = 1; bits <= CODE_MOST; bits++) {
		t->first[bits] = code;
		t->offset[bits] = at;
		for (int s = 0; s < alphabet; s++)
			if (length[s] == bits) {
				t->symbol[at++] = s;
				t->count[bits]++;
			}
		code = (code + t->count[bits]) << 1;
	}
}

static bool table_take(struct bits *b, struct table *t, int alphabet)
{
	unsigned char length[SYMBOLS];
	int64_t now = bits_take(b, 5), bit;

	for (int s = 0; s < alphabet; s++) {
		while ((bit = bits_take(b, 1)) == 1) {
			bit = bits_take(b, 1);
			if (bit < 0)
				return false;
			now += bit ? -1 : 1;
			if (now < 1 || now > CODE_MOST)
				return false;
		}
		if (bit < 0 || now < 1 || now > CODE_MOST)
			return false;
		length[s] = now;
	}
	table_make(t, length, alphabet);
	return true;
}

/* Returns the next symbol, or -1. */
static int symbol_take(struct bits *b, const struct table *t)
{
	uint32_t code = 0;

	for (int bits = 1; bits <= CODE_MOST; bits++) {
		int64_t bit = bits_take(b, 1);

		if (bit < 0)
			return -1;
		code = code << 1 | bit;
		if (code - t->first[bits] < t->count[bits])
			return t->symbol[t->offset[bits] + code - t->first[bits]];
	}
	return -1;
}

/* Undoes the move-to-front and run coding of a block. */
static bool block_fill(struct bits *b, struct block *k)
{
	unsigned char order[256];
	uint32_t run = 0, unit = 1;
	int taken = 0, group = 0, symbol;

	memcpy(order, k->used, sizeof(order));
	k->size = 0;
	while ((symbol = symbol_take(b, &k->table[k->selector[group]])) >= 0) {
		unsigned char byte = order[0];

		if (++taken == GROUP) {
			taken = 0;
			if (++group >= SELECTORS)
				return false;
		}
		if (symbol <= 1) {
			run += unit << symbol;
			unit <<= 1;
			if (run > RUN_MOST)
				return false;
			continue;
		}
		if (run > k->most - k->size)
			return false;
		for (; run; run--)
			k->next[k->size++] = byte;
		unit = 1;
		if (symbol == k->alphabet - 1)
			return true;
		if (k->size == k->most)
			return false;
		byte = order[symbol - 1];
		memmove(order + 1, order, symbol - 1);
		order[0] = byte;
		k->next[k->size++] = byte;
	}
	return false;
}

/* Undoes the sorting, and the first run-length coding: four equal bytes, then a count. */
static bool block_write(struct block *k, uint32_t origin, struct unpack_out *o)
{
	uint32_t sum[257] = {}, at;
	int same = 0, last = -1;

	for (uint32_t i = 0; i < k->size; i++)
		sum[(k->next[i] & 0xff) + 1]++;
	for (int c = 0; c < 256; c++)
		sum[c + 1] += sum[c];
	for (uint32_t i = 0; i < k->size; i++)
		k->next[sum[k->next[i] & 0xff]++] |= i << 8;
	at = k->next[origin] >> 8;
	for (uint32_t i = 0; i < k->size; i++) {
		char c = k->next[at];

		at = k->next[at] >> 8;
		if (same == 4) {
			for (int n = (unsigned char)c; n; n--)
				if (!unpack_add(o, &(char){last}, 1))
					return false;
			same = 0;
			last = -1;
			continue;
		}
		same = (unsigned char)c == last ? same + 1 : 1;
		last = (unsigned char)c;
		if (!unpack_add(o, &c, 1))
			return false;
	}
	return true;
}

static bool block_decode(struct bits *b, struct block *k, struct unpack_out *o)
{
	int64_t origin, tables, selectors;

	if (bits_take(b, 32) < 0 || bits_take(b, 1) != 0) /* checksum; "randomised": never used */
		return false;
	origin = bits_take(b, 24);
	if (origin < 0 || !symbols_take(b, k))
		return false;
	tables = bits_take(b, 3);
	selectors = bits_take(b, 15);
	if (tables < 2 || tables > TABLES || selectors < 1 ||
	    !selectors_take(b, k, tables, selectors))
		return false;
	for (int i = 0; i < tables; i++)
		if (!table_take(b, &k->table[i], k->alphabet))
			return false;
	return block_fill(b, k) && origin < k->size && block_write(k, origin, o);
}

/* Decodes a stream. Returns whether it is whole, so that another one may follow. */
static bool stream_decode(struct bits *b, struct block *k, struct unpack_out *o)
{
	int64_t level;

	if (bits_take(b, 24) != 0x425a68) /* "BZh" */
		return false;
	level = bits_take(b, 8) - '0';
	if (level < 1 || level > 9)
		return false;
	k->most = level * BLOCK_UNIT;
	for (;;) {
		int64_t magic = bits_take(b, 48);

		if (magic == (int64_t)END_MAGIC)
			break;
		if (magic != (int64_t)BLOCK_MAGIC || !block_decode(b, k, o))
			return false;
	}
	if (bits_take(b, 32) < 0)
		return false;
	b->at = (b->at + 7) & ~(size_t)7;
	return true;
}

int bunzip2_all(const char *in, size_t n, struct unpack_out *o)
{
	struct bits b = {(const unsigned char *)in, 0, n * 8};
	struct block *k = calloc(1, sizeof(*k));
	bool whole = true;

	if (k)
		k->next = malloc(9 * BLOCK_UNIT * sizeof(*k->next));
	if (!k || !k->next) {
		free(k);
		return -ENOMEM;
	}
	while (whole && b.at < b.end)
		whole = stream_decode(&b, k, o);
	o->partial = !whole;
	free(k->next);
	free(k);
	return 0;
}
