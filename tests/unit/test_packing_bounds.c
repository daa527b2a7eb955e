// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests packed records at their bounds: the length of a chunk, and the numbers, texts and
 * references of a chunk that another program wrote.
 */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "fixture.h"
#include "probe/record_layout.h"
#include "probe/record_packing.h"
#include "tap.h"

#define ROOM (CHUNK_RAW_MAX + 4 * RECORD_BYTES_MAX) /* most bytes of a chunk */

/* ---- packing ---- */

static struct packer *packer;

/* Adds a record whose text has `n` characters, and differs from the text before. */
static void text(size_t n)
{
	static char c = 'a';
	struct symbol_record r = RECORD(symbol_record, RECORD_SYMBOL, 0);

	c = c == 'a' ? 'b' : 'a';
	memset(r.symbol, c, n);
	if (packer_add(packer, &r.h))
		abort();
}

/* Adds records until the chunk has `bytes` bytes. */
static void fill(size_t bytes)
{
	size_t before, rest, fixed;

	text(1);
	before = packer_bytes(packer);
	text(1);
	fixed = packer_bytes(packer) - before - 1; /* bytes of a record without its text */
	while ((rest = bytes - packer_bytes(packer)))
		text(rest > 2 * (fixed + 60) ? 60
		     : rest > fixed + 60     ? rest / 2 - fixed
					     : rest - fixed);
}

static void test_full_chunk(void)
{
	struct tick_record tick = tick_record(SECOND);
	const struct kind_layout *k;
	struct record_layout own = {};
	size_t most;

	if (packer_make(&packer) || record_layout_own(&own))
		abort();
	k = record_layout_of(&own, RECORD_TICK);
	fill(CHUNK_RAW_MAX - 1);
	ok(!packer_is_full(packer), "a chunk of nearly 1 MiB goes on");
	fill(CHUNK_RAW_MAX + 64);
	ok(packer_is_full(packer), "a larger one is full");
	packer_begin_anew(packer);
	fill(CHUNK_RAW_MAX);
	ok(packer_is_full(packer), "so is one of 1 MiB");
	/* each field of a record may take two numbers of 10 bytes */
	most = ROOM - k->bytes - k->ids * 20 - 64;
	fill(most);
	is_u64(packer_add(packer, &tick.h), 0, "the last record for which there is room");
	ok(packer_bytes(packer) > most, "is added");
	packer_begin_anew(packer);
	fill(most + 1);
	is_u64(packer_add(packer, &tick.h), (uint64_t)-EINVAL, "one that has no room");
	is_u64(packer_bytes(packer), most + 1, "is not added");
	packer_free(packer);
	record_layout_clear(&own);
}

/* Every 360th chunk depends on no other. */
static void test_key_chunks(void)
{
	size_t keys = 0, others = 0;

	if (packer_make(&packer))
		abort();
	for (uint64_t i = 0; i <= 2 * 360; i++) {
		struct tick_record tick = tick_record((i + 1) * SECOND);
		const unsigned char *bytes;
		struct chunk_header ch;
		size_t len;

		if (packer_add(packer, &tick.h) || packer_end(packer, &bytes, &len))
			abort();
		memcpy(&ch, bytes, sizeof(ch));
		keys += i % 360 == 0 && ch.flags == CHUNK_KEY;
		others += i % 360 && !ch.flags;
	}
	is_u64(keys, 3, "each 360th chunk stands alone");
	is_u64(others, 2 * 359, "and no other");
	ok(!packer_holds(packer), "an ended chunk is empty");
	packer_free(packer);
}

/* Packs records into one chunk. Returns the reference of the last one, which has no other value. */
static unsigned int last_reference(const struct record *h, size_t times)
{
	const unsigned char *chunk;
	unsigned char unpacked[8192] = "";
	uLongf n = sizeof(unpacked);
	size_t len;

	packer_begin_anew(packer);
	for (size_t i = 0; i < times; i++)
		if (packer_add(packer, h))
			abort();
	if (packer_end(packer, &chunk, &len) ||
	    uncompress(unpacked, &n, chunk + sizeof(struct chunk_header),
		       len - sizeof(struct chunk_header)) != Z_OK ||
	    n < 2)
		abort();
	return unpacked[n - 2];
}

/* Packs a record into a chunk of its own. Returns the third number of the chunk: its reference. */
static unsigned int reference(const struct record *h)
{
	const unsigned char *chunk;
	unsigned char unpacked[8192] = "";
	uLongf n = sizeof(unpacked);
	size_t len;

	packer_begin_anew(packer);
	if (packer_add(packer, h) || packer_end(packer, &chunk, &len) ||
	    uncompress(unpacked, &n, chunk + sizeof(struct chunk_header),
		       len - sizeof(struct chunk_header)) != Z_OK)
		abort();
	if (n < 3 || unpacked[0] >= 0x80 || unpacked[1])
		abort(); /* the first numbers are the kind and a time of 0 */
	return unpacked[2];
}

#define SHORT 1 /* the record has no counters */
#define NEW   2 /* later records refer to it */
#define NEXT  4 /* it refers to the slot behind the one that was used last */

static void test_references_to(void)
{
	struct growth_record growth = RECORD(growth_record, RECORD_GROWTH, 0);
	struct sample_record sample = sample_record(5, 1, 0, 64);
	struct process_record process = process_record(5, 1, 0);
	struct symbol_record symbol = RECORD(symbol_record, RECORD_SYMBOL, 0);
	struct tick_record tick = tick_record(0);

	if (packer_make(&packer))
		abort();
	is_u64(reference(&process.h), NEW, "the first record of a process");
	is_u64(last_reference(&process.h, 2), NEXT, "the second refers to it");
	is_u64(last_reference(&process.h, 3), NEXT + 2, "so does the third, one slot back");
	process.h.len = offsetof(struct process_record, c);
	is_u64(reference(&process.h), NEW | SHORT, "without counters");
	process.g.flags = PROC_FINAL;
	is_u64(reference(&process.h), SHORT, "no record follows the last one");
	process.h.len = sizeof(process);
	is_u64(reference(&process.h), 0, "nor if it has counters");
	sample.h.len = sizeof(sample);
	is_u64(reference(&sample.h), NEW, "a sample");
	is_u64(reference(&growth.h), NEW, "a row of growth");
	is_u64(reference(&tick.h), NEW, "a tick");
	is_u64(reference(&symbol.h), 0, "a record of no process");
	packer_free(packer);
}

/* ---- chunks of another program ---- */

static struct {
	unsigned char bytes[8192];
	size_t n;
} raw;

static void number(uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		raw.bytes[raw.n++] = v | 0x80;
	raw.bytes[raw.n++] = v;
}

static void bytes(const char *s, size_t n)
{
	memcpy(raw.bytes + raw.n, s, n);
	raw.n += n;
}

static void begin(void)
{
	raw.n = 0;
}

static void sign(struct chunk_header *ch)
{
	size_t from = offsetof(struct chunk_header, payload_crc);

	ch->header_crc = crc32(0, (unsigned char *)ch + from, sizeof(*ch) - from);
}

static struct unpacker *unpacker;
static unsigned char packed[2 * sizeof(raw.bytes)];

/* Gives what was written to the unpacker, as a chunk. */
static int give(uint32_t flags)
{
	struct chunk_header ch = {.magic = CHUNK_MAGIC, .flags = flags, .raw_bytes = raw.n};
	uLongf size = sizeof(packed);

	compress(packed, &size, raw.bytes, raw.n);
	ch.packed_bytes = size;
	ch.payload_crc = crc32(0, packed, size);
	sign(&ch);
	return unpacker_take(unpacker, &ch, packed);
}

#define KIND 5000

struct later {
	struct record h;
	uint64_t words[3];
	char text[8];
};

/* Begins a chunk with the first numbers of a record. */
static void begin_record(uint64_t kind, uint64_t ref)
{
	begin();
	number(kind);
	number(2 * 5); /* 5 ns later */
	number(ref << 1);
}

/* Reads the chunk, which has one record. Returns the record, or NULL after an error. */
static const struct later *next(void)
{
	struct record *h = NULL;

	if (give(CHUNK_KEY) || unpacker_next(unpacker, &h))
		return NULL;
	return (const struct later *)h;
}

static void begin_reading(void)
{
	static const char fields[] = "r 5000 later\nf u 8 3 0 words -\nf t 8 1 0 text -\n"
				     "r 4294967295 last\n";

	if (unpacker_make(&unpacker))
		abort();
	begin();
	bytes(fields, strlen(fields));
	is_u64(give(CHUNK_FIELDS), 0, "fields of a later version");
}

static void test_numbers(void)
{
	const struct later *r;

	begin_record(KIND, 0);
	number(0);
	r = next();
	ok(r && r->h.kind == KIND && r->h.t_ns == 5 && r->h.len == sizeof(r->h) &&
		   r->h.extra == sizeof(*r) - sizeof(r->h) && !r->words[0],
	   "a record without values");
	begin_record(KIND, 0);
	number(1);
	number(2 * 7); /* numbers are differences, with the sign in the lowest bit */
	number(2);
	number(2 * 8 - 1);
	number(0);
	r = next();
	ok(r && r->words[0] == 7 && r->words[1] == 0 && r->words[2] == (uint64_t)-8,
	   "the first and the last element");
	begin_record(KIND, 0);
	number(3);
	number(UINT64_MAX);
	number(0);
	r = next();
	ok(r && r->words[2] == (uint64_t)INT64_MIN, "a number of 10 bytes");
	begin_record(KIND, 0);
	number(3);
	bytes("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11);
	number(0);
	ok(!next(), "one of 11 bytes is damaged");
	begin_record(KIND, 0);
	number(3);
	bytes("\x80", 1);
	ok(!next(), "and one that the end cuts");
	/* the unpacker still has the bytes of the chunk before: they are no end of this one */
	begin_record(KIND, 0);
	number(0);
	ok(next(), "a record");
	begin_record(KIND, 0);
	ok(!next(), "the same one without its end");
	begin_record((uint64_t)KIND | 1ULL << 32, 0);
	number(0);
	ok(!next(), "a kind that is too large");
	begin_record(UINT32_MAX, 0);
	number(0);
	r = next();
	ok(r && r->h.kind == UINT32_MAX, "the largest kind");
	begin_record(UINT32_MAX - 1, 0);
	number(0);
	ok(!next(), "a kind that is not listed");
	begin();
	number(KIND);
	number(0);
	number(1);
	number(0);
	ok(!next(), "a short record of a kind that has none");
}

static void test_elements(void)
{
	const struct later *r;

	begin_record(KIND, 0);
	number(5);
	number(2);
	number(0);
	ok(!next(), "an element behind the last one");
	begin_record(KIND, 0);
	number(ELEMENTS_MAX + 1);
	number(2);
	number(0);
	ok(!next(), "or far behind it");
	begin_record(KIND, 0);
	number(4);
	number(7);
	bytes("1234567", 7);
	number(0);
	r = next();
	ok(r && !memcmp(r->text, "1234567", 8), "the longest text");
	begin_record(KIND, 0);
	number(4);
	number(8);
	bytes("12345678", 8);
	number(0);
	r = next();
	ok(r && !memcmp(r->text, "1234567", 8), "a longer one is cut");
	begin_record(KIND, 0);
	number(4);
	number(9);
	bytes("123456789", 9);
	number(0);
	r = next();
	ok(r && !memcmp(r->text, "1234567", 8), "whatever its length");
	begin_record(KIND, 0);
	number(4);
	number(3);
	bytes("12", 2);
	ok(!next(), "a text that the end cuts");
	begin_record(KIND, 0);
	number(4);
	number(2);
	bytes("12", 2);
	ok(!next(), "or the record behind it");
}

/* A record refers to the last one of the same process or entry by its slot. */
static void test_references(void)
{
	const struct later *r = NULL;
	struct record *h;

	begin_record(KIND, 1); /* it has a new slot */
	number(1);
	number(2 * 7);
	number(0);
	number(KIND);
	number(2 * 5);
	number((2 + 0) << 1); /* the slot behind the last one, which is the first */
	number(1);
	number(2 * 1);
	number(0);
	is_u64(give(CHUNK_KEY), 0, "two records of one entry");
	ok(!unpacker_next(unpacker, &h) && !unpacker_next(unpacker, &h), "are read");
	r = (const struct later *)h;
	ok(r->words[0] == 8 && r->h.t_ns == 10, "the second is the difference from the first");
	is_u64(unpacker_next(unpacker, &h), 1, "the chunk ends");
	begin_record(KIND, 2 + 1); /* the same slot again: one before the next */
	number(1);
	number(2 * 1);
	number(0);
	is_u64(give(0), 0, "a chunk that goes on");
	ok(!unpacker_next(unpacker, &h) && ((const struct later *)h)->words[0] == 9,
	   "knows the entries so far");
	begin_record(KIND, 2 + 0);
	number(0);
	ok(!give(0) && unpacker_next(unpacker, &h) == -EBADMSG, "a slot behind the last one");
	is_u64(give(0), (uint64_t)-EBADMSG, "after damage, no chunk goes on");
	begin_record(KIND, 2 + 0);
	number(0);
	ok(!next(), "after a key chunk, no slot is known");
	begin_record(KIND, 2 + 1);
	number(0);
	ok(!next(), "nor one before the first");
}

/* Gives a chunk of the packer to the unpacker. */
static void pass(const unsigned char *chunk)
{
	struct chunk_header ch;

	memcpy(&ch, chunk, sizeof(ch));
	if (unpacker_take(unpacker, &ch, chunk + sizeof(ch)))
		abort();
}

static void test_texts(void)
{
	static const char *const texts[] = {
		"abc",
		"ab",
		"ab",
		"abd",
		"",
		"",
		"123456789012345678901234567890123456789012345678901234567890123",
		"12345678901234567890123456789012345678901234567890123456789012x",
	};
	const size_t n = sizeof(texts) / sizeof(texts[0]);
	const unsigned char *chunk;
	size_t len, same = 0;
	struct record *h;

	if (packer_make(&packer) || unpacker_make(&unpacker) || packer_fields(packer, &chunk, &len))
		abort();
	pass(chunk);
	for (size_t i = 0; i < n; i++) {
		struct symbol_record r = RECORD(symbol_record, RECORD_SYMBOL, i);

		snprintf(r.symbol, sizeof(r.symbol), "%s", texts[i]);
		r.ip = i / 2;
		if (packer_add(packer, &r.h))
			abort();
	}
	if (packer_end(packer, &chunk, &len))
		abort();
	pass(chunk);
	for (size_t i = 0; !unpacker_next(unpacker, &h); i++) {
		const struct symbol_record *r = (const struct symbol_record *)h;

		same += i < n && !strcmp(r->symbol, texts[i]) && r->ip == i / 2 && h->t_ns == i;
	}
	is_u64(same, n, "texts that become longer, shorter, or stay");
	unpacker_free(unpacker);
	packer_free(packer);
}

/* A copy of a recording has the fields that this version does not know. */
static void test_extra(void)
{
	struct field_record field = RECORD(field_record, RECORD_FIELD, 0);
	struct {
		struct tick_record tick;
		uint64_t later;
	} r = {.tick = tick_record(SECOND), .later = 77};
	static const uint64_t want[] = {77, 78, 78};
	const unsigned char *chunk;
	size_t len, same = 0;
	struct record *h;

	if (packer_make(&packer) || unpacker_make(&unpacker))
		abort();
	field.of = RECORD_TICK;
	field.type = VALUE_UNSIGNED;
	field.size = 8;
	field.count = 1;
	strcpy(field.record, "tick");
	strcpy(field.name, "later");
	is_u64(packer_add(packer, &field.h), 0, "a field of a later version");
	if (packer_fields(packer, &chunk, &len))
		abort();
	pass(chunk);
	is_u64(packer_add(packer, &field.h), (uint64_t)-EINVAL, "is told before the records");
	for (int i = 0; i < 3; i++) {
		/* a record without its extra bytes has the value of the one before */
		r.tick.h.extra = i < 2 ? sizeof(r.later) : 0;
		r.later = 77 + i;
		if (packer_add(packer, &r.tick.h))
			abort();
	}
	if (packer_end(packer, &chunk, &len))
		abort();
	pass(chunk);
	for (size_t i = 0; !unpacker_next(unpacker, &h); i++) {
		same += i < 3 && h->extra == sizeof(r.later) && h->len == sizeof(r.tick) &&
			!memcmp((char *)h + h->len, &want[i], sizeof(want[i]));
	}
	is_u64(same, 3, "its values are kept");
	unpacker_free(unpacker);
	packer_free(packer);
}

static void test_headers(void)
{
	struct chunk_header ch = {.magic = CHUNK_MAGIC};
	const struct {
		uint32_t raw_bytes, packed_bytes;
		bool good;
		const char *name;
	} heads[] = {
		{0, 0, true, "an empty chunk"},
		{ROOM, 0, true, "the largest chunk"},
		{ROOM + 1, 0, false, "one that is larger"},
		{0, compressBound(ROOM), true, "the largest chunk that cannot be compressed"},
		{0, compressBound(ROOM) + 1, false, "one that is larger"},
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		ch.raw_bytes = heads[i].raw_bytes;
		ch.packed_bytes = heads[i].packed_bytes;
		sign(&ch);
		ok(chunk_header_is_good(&ch) == heads[i].good, "%s", heads[i].name);
	}
}

int main(void)
{
	test_full_chunk();
	test_key_chunks();
	test_references_to();
	begin_reading();
	test_numbers();
	test_elements();
	test_references();
	unpacker_free(unpacker);
	test_texts();
	test_extra();
	test_headers();
	return tap_done();
}
